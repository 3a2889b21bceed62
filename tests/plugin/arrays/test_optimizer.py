"""Each member has its own steps, norm, clipping and end."""

import pytest
import torch
from fairseq.logging import metrics
from fairseq.optim import build_optimizer
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401
from lnexp.plugin.arrays.optimizer import EveryMemberDivergedError

OPTIONS = [
    {"_name": "lnexp_adam", "lr": [0.01], "weight_decay": 0.1},
    {"_name": "lnexp_sgd", "lr": [0.1]},
    {"_name": "lnexp_radam", "lr": [0.02]},
]
SHAPES = [(4, 5), (7,)]


@pytest.fixture(autouse=True)
def fresh_meters():
    """fairseq's meters are the process's, and those of another array have another size."""
    metrics.reset()


def stacked() -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(len(OPTIONS), *shape, generator=generator)) for shape in SHAPES]


def array_optimizer(parameters):
    return build_optimizer(OmegaConf.create({"_name": "lnexp_array", "members": OPTIONS}), parameters)


def give_gradients(parameters, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    gradients = [torch.randn(parameter.shape, generator=generator) for parameter in parameters]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad.copy_(gradient)
    return gradients


def single_optimizer(number: int):
    parameters = [torch.nn.Parameter(parameter[number].detach().clone()) for parameter in stacked()]
    return parameters, build_optimizer(OmegaConf.create(OPTIONS[number]), parameters)


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_a_member_steps_as_it_would_alone(clip):
    parameters = stacked()
    array = array_optimizer(parameters)
    singles = [single_optimizer(number) for number in range(len(OPTIONS))]
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


def test_states_go_both_ways_between_an_array_and_single_optimizers():
    parameters = stacked()
    array = array_optimizer(parameters)
    for update in range(3):
        give_gradients(parameters, update)
        array.step()
    fresh = stacked()
    other = array_optimizer(fresh)
    for number in range(len(OPTIONS)):
        _, single = single_optimizer(number)
        single.load_state_dict(array.member_state(number))
        other.load_member_state(number, single.state_dict())
    for mine, copied in zip(parameters, fresh, strict=True):
        copied.data.copy_(mine.data)
    for optimizer, own in ((array, parameters), (other, fresh)):
        give_gradients(own, 7)
        optimizer.step()
    for mine, copied in zip(parameters, fresh, strict=True):
        assert torch.equal(mine, copied)


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
    assert array.alive == [0, 2]
    assert torch.equal(parameters[0][1], before)
    for number in array.alive:
        assert all(torch.equal(a[number], b[number]) for a, b in zip(parameters, undisturbed, strict=True))


def test_when_all_have_diverged_there_is_nothing_to_train():
    parameters = stacked()
    array = array_optimizer(parameters)
    parameters[0].grad.fill_(torch.inf)
    with pytest.raises(EveryMemberDivergedError):
        array.clip_grad_norm(0.0)
