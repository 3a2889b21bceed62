"""Each member has its own steps, norm, clipping and end."""

from dataclasses import dataclass, field

import pytest
import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.dataclass.configs import FairseqConfig
from fairseq.logging import metrics
from fairseq.optim import build_optimizer, register_optimizer
from fairseq.optim.fp16_optimizer import FP16Optimizer
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401
from lnexp.plugin.divergence import EveryMemberDivergedError
from lnexp.plugin.torch_optimizer import TorchOptimizer

ELEMENTWISE = [
    {"_name": "lnexp_adam", "lr": [0.01], "weight_decay": 0.1},
    {"_name": "lnexp_sgd", "lr": [0.1]},
    {"_name": "lnexp_radam", "lr": [0.02]},
    {"_name": "lnexp_gathered_adam", "lr": [0.01], "gather": 2},
]
#: The second one is ours, below, and the third fairseq's own.
BY_MATRIX = [
    ELEMENTWISE[0],
    {"_name": "normalised", "lr": [0.1]},
    {
        "_name": "adafactor",
        "lr": [0.02],
        "adafactor_eps": "(1e-30, 1e-3)",
        "clip_threshold": 1.0,
        "beta1": None,
        "decay_rate": -0.8,
        "weight_decay": 0.0,
        "scale_parameter": True,
        "relative_step": False,
        "warmup_init": False,
    },
]
SHAPES = [(4, 5), (7,)]

pytestmark = pytest.mark.usefixtures("normalised")


class ByNorm(torch.optim.Optimizer):
    """``m ← 0.9 m + g; w ← w − lr m / ‖m‖``, with a norm for each parameter."""

    def __init__(self, params, lr: float):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                momentum = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                momentum.mul_(0.9).add_(parameter.grad)
                parameter.sub_(group["lr"] * momentum / momentum.norm())


@dataclass
class NormalisedConfig(FairseqDataclass):
    """Options of the optimizer ``normalised``."""

    lr: list[float] = field(default_factory=lambda: [0.1])


@pytest.fixture
def normalised(registering) -> None:
    """An optimizer that works matrix by matrix, by its name."""

    @register_optimizer("normalised", dataclass=NormalisedConfig)
    class Normalised(TorchOptimizer):
        torch_class = ByNorm
        elementwise = False

        def torch_arguments(self):
            return {}


@pytest.fixture(params=[ELEMENTWISE, BY_MATRIX], ids=["element by element", "matrix by matrix"])
def options(request) -> list[dict]:
    """The members' optimizers."""
    return request.param


@pytest.fixture(autouse=True)
def fresh_meters():
    """fairseq's meters are the process's, and those of another array have another size."""
    metrics.reset()


def stacked() -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(len(ELEMENTWISE), *shape, generator=generator)) for shape in SHAPES]


def array_optimizer(parameters, options=ELEMENTWISE):
    return build_optimizer(OmegaConf.create({"_name": "lnexp_array", "members": options}), parameters)


def give_gradients(parameters, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    gradients = [torch.randn(parameter.shape, generator=generator) for parameter in parameters]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad.copy_(gradient)
    return gradients


def single_optimizer(number: int, options):
    parameters = [torch.nn.Parameter(parameter[number].detach().clone()) for parameter in stacked()]
    return parameters, build_optimizer(OmegaConf.create(options[number]), parameters)


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_a_member_steps_as_it_would_alone(clip, options):
    parameters = stacked()
    array = array_optimizer(parameters, options)
    singles = [single_optimizer(number, options) for number in range(len(options))]
    for update in range(5):
        array.zero_grad()
        gradients = give_gradients(parameters, update)
        array.multiply_grads(0.5)
        norms = []
        for number, (mine, optimizer) in enumerate(singles):
            for parameter, gradient in zip(mine, gradients, strict=True):
                parameter.grad = 0.5 * gradient[number]
            norms.append(optimizer.clip_grad_norm(clip))
            optimizer.step()
        assert array.clip_grad_norm(clip) == pytest.approx(float(torch.stack(norms).mean()))
        array.step()
    for number, (mine, _) in enumerate(singles):
        for parameter, alone in zip(parameters, mine, strict=True):
            torch.testing.assert_close(parameter[number], alone)


def test_states_go_both_ways_between_an_array_and_single_optimizers(options):
    parameters = stacked()
    array = array_optimizer(parameters, options)
    for update in range(3):
        give_gradients(parameters, update)
        array.step()
    fresh = stacked()
    other = array_optimizer(fresh, options)
    for number in range(len(options)):
        _, single = single_optimizer(number, options)
        single.load_state_dict(array.member_state(number))
        other.load_member_state(number, single.state_dict())
    for mine, copied in zip(parameters, fresh, strict=True):
        copied.data.copy_(mine.data)
    for optimizer, own in ((array, parameters), (other, fresh)):
        give_gradients(own, 7)
        optimizer.step()
    for mine, copied in zip(parameters, fresh, strict=True):
        assert torch.equal(mine, copied)


def test_a_members_state_is_by_parameter_and_a_copy(options):
    parameters = stacked()
    array = array_optimizer(parameters, options)
    give_gradients(parameters, 1)
    array.step()
    states = [array.member_state(number) for number in range(len(options))]
    before = [str(state) for state in states]
    for number, state in enumerate(states):
        _, single = single_optimizer(number, options)
        assert len(state["param_groups"]) == len(single.param_groups)
        assert state["param_groups"][0]["params"] == [0, 1]
        for index, values in state["state"].items():
            for name in {"exp_avg", "momentum"} & values.keys():
                assert values[name].shape == SHAPES[index]
    give_gradients(parameters, 2)
    array.step()
    assert [str(state) for state in states] == before


def test_only_an_elementwise_optimizer_gets_one_vector():
    array = array_optimizer(stacked(), BY_MATRIX)
    shapes = [[tuple(parameter.shape) for parameter in member.params] for member in array.members]
    assert shapes == [[(27,)], SHAPES, SHAPES]


def test_an_optimizer_must_say_how_it_works():
    with pytest.raises(TypeError, match="Silent does not say whether it works element by element"):
        type("Silent", (TorchOptimizer,), {"torch_class": ByNorm})


@pytest.mark.parametrize("name", ["lnexp_adam", "normalised"])
def test_fairseqs_bf16_gives_the_matrices_to_either(name):
    parameters = [parameter[0].detach().bfloat16().requires_grad_() for parameter in stacked()]
    cfg = OmegaConf.structured(FairseqConfig(optimizer={"_name": name, "lr": [0.1]}))
    cfg.common.bf16 = True
    assert [p.shape for p in FP16Optimizer.build_optimizer(cfg, parameters).fp32_params] == [*map(torch.Size, SHAPES)]


@pytest.mark.parametrize(("name", "flat"), [("lnexp_adam", True), ("normalised", False)])
def test_fairseqs_fp16_asks_whether_one_vector_would_do(name, flat):
    parameters = [parameter[0].detach().requires_grad_() for parameter in stacked()]
    assert build_optimizer(OmegaConf.create({"_name": name, "lr": [0.1]}), parameters).supports_flat_params is flat


def test_a_member_without_a_norm_is_frozen_and_the_others_go_on():
    parameters, undisturbed = stacked(), stacked()
    array, other = array_optimizer(parameters), array_optimizer(undisturbed)
    before = parameters[0][1].detach().clone()
    for optimizer, own in ((array, parameters), (other, undisturbed)):
        give_gradients(own, 1)
        optimizer.updates = 17
    parameters[1].grad[1, 0] = torch.nan
    for optimizer in (array, other):
        optimizer.clip_grad_norm(1.0)
        optimizer.step()
    assert array.frozen == {1: 17}
    assert array.alive == [0, 2, 3]
    assert torch.equal(parameters[0][1], before)
    for number in array.alive:
        assert all(torch.equal(a[number], b[number]) for a, b in zip(parameters, undisturbed, strict=True))


def test_when_all_have_diverged_there_is_nothing_to_train():
    parameters = stacked()
    array = array_optimizer(parameters)
    parameters[0].grad.fill_(torch.inf)
    with pytest.raises(EveryMemberDivergedError):
        array.clip_grad_norm(0.0)
