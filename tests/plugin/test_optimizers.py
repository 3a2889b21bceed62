"""Each optimizer makes the steps of ``torch.optim`` used directly."""

from types import SimpleNamespace

import pytest
import torch
from fairseq import utils
from fairseq.optim import AMPOptimizer, build_optimizer
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401

CASES = {
    "adam": ({"betas": [0.9, 0.98], "eps": 1e-8, "weight_decay": 0.0}, torch.optim.Adam, {"betas": (0.9, 0.98)}),
    "adam, decayed": (
        {"betas": [0.8, 0.9], "eps": 1e-6, "weight_decay": 0.1},
        torch.optim.AdamW,
        {"betas": (0.8, 0.9), "eps": 1e-6, "weight_decay": 0.1},
    ),
    "gathered_adam": (
        {"gather": 0, "weight_decay": 0.1},
        torch.optim.AdamW,
        {"betas": (0.9, 0.98), "weight_decay": 0.1},
    ),
    "radam": ({"betas": [0.9, 0.98]}, torch.optim.RAdam, {"betas": (0.9, 0.98)}),
    "radam, decayed": (
        {"betas": [0.9, 0.98], "weight_decay": 0.1},
        torch.optim.RAdam,
        {"betas": (0.9, 0.98), "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "sgd": ({}, torch.optim.SGD, {}),
    "sgd, decayed": (
        {"momentum": 0.9, "weight_decay": 0.1},
        torch.optim.SGD,
        {"momentum": 0.9, "weight_decay": 0.1},
    ),
}


def steps(optimizer, parameters: list[torch.nn.Parameter], count: int = 20) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        optimizer.step()
    return [parameter.detach() for parameter in parameters]


def fresh_parameters() -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in [(4, 5), (7,)]]


@pytest.mark.parametrize("case", CASES)
def test_steps_equal_torch(case):
    options, torch_class, arguments = CASES[case]
    mine, theirs = fresh_parameters(), fresh_parameters()
    cfg = OmegaConf.create({"_name": f"lnexp_{case.partition(',')[0]}", "lr": [0.01], **options})
    ours = steps(build_optimizer(cfg, mine), mine)
    direct = steps(torch_class(theirs, lr=0.01, foreach=False, **arguments), theirs)
    for one, other in zip(ours, direct, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_a_state_of_other_shapes_is_not_loaded():
    """A fused step would read what lies behind it in memory."""
    parameters = fresh_parameters()
    optimizer = build_optimizer(OmegaConf.create({"_name": "lnexp_adam", "lr": [0.01]}), parameters)
    steps(optimizer, parameters, count=1)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    state["state"][0]["exp_avg"] = torch.zeros(1)
    with pytest.raises(ValueError, match=r"exp_avg is \(1,\) for a parameter \(4, 5\)"):
        optimizer.load_state_dict(state)


@pytest.mark.parametrize("most", [0.0, 0.5, 100.0])
def test_gradients_are_clipped_as_by_fairseq(most):
    mine, theirs = fresh_parameters(), fresh_parameters()
    optimizer = build_optimizer(OmegaConf.create({"_name": "lnexp_sgd", "lr": [1.0]}), mine)
    for parameters in (mine, theirs):
        generator = torch.Generator().manual_seed(1)
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape, generator=generator)
    assert optimizer.clip_grad_norm(most) == utils.clip_grad_norm_(theirs, most)
    for one, other in zip(mine, theirs, strict=True):
        assert torch.equal(one.grad, other.grad)


def test_an_optimizer_that_wraps_ours_clears_the_gradients_of_the_parameters():
    scale = SimpleNamespace(fp16_init_scale=1, fp16_scale_window=1, min_loss_scale=1)
    parameters = fresh_parameters()
    ours = build_optimizer(OmegaConf.create({"_name": "lnexp_adam", "lr": [0.01]}), parameters)
    wrapping = AMPOptimizer(SimpleNamespace(common=scale, optimizer=None), parameters, ours)
    for _ in range(3):
        wrapping.zero_grad()
        torch.stack([parameter.sum() for parameter in parameters]).sum().backward()
        assert all((parameter.grad == 1).all() for parameter in parameters)
        ours.step()


def one_step_without_gradient(name: str) -> float:
    """What weight decay alone makes of a weight of 1, with lr 0.5 and λ 0.1."""
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = build_optimizer(
        OmegaConf.create({"_name": f"lnexp_{name}", "lr": [0.5], "weight_decay": 0.1}), [parameter]
    )
    parameter.grad = torch.zeros(1)
    optimizer.step()
    return parameter.item()


def adam_2k(parameters: list[torch.Tensor], gather: int, ramp: bool) -> list[torch.Tensor]:
    """What the algorithm of Liu et al. 2020 makes of parameters, with the gradients of :func:`steps`."""
    rate, (beta1, beta2), eps, decay = 0.01, (0.9, 0.98), 1e-8, 0.1
    weights = [parameter.detach().double() for parameter in parameters]
    first, second = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    generator = torch.Generator().manual_seed(1)
    for step in range(1, 21):
        for index, weight in enumerate(weights):
            gradient = torch.randn(weight.shape, generator=generator).double()
            second[index] = beta2 * second[index] + (1 - beta2) * gradient**2
            if step <= gather:
                continue
            first[index] = beta1 * first[index] + (1 - beta1) * gradient
            size = rate * (1 - beta2**step) ** 0.5 / (1 - beta1 ** (step if ramp else step - gather))
            weights[index] = (1 - rate * decay) * weight - size * first[index] / (second[index].sqrt() + eps)
    return [weight.float() for weight in weights]


def gathered(parameters: list[torch.nn.Parameter], gather: int, ramp: bool = False):
    options = {"betas": [0.9, 0.98], "weight_decay": 0.1, "gather": gather, "ramp": ramp}
    return build_optimizer(OmegaConf.create({"_name": "lnexp_gathered_adam", "lr": [0.01], **options}), parameters)


@pytest.mark.parametrize("ramp", [False, True])
@pytest.mark.parametrize("gather", [0, 1, 7, 30])
def test_gathered_adam_is_the_algorithm_of_its_source(gather, ramp):
    parameters = fresh_parameters()
    expected = adam_2k(parameters, gather, ramp)
    for one, other in zip(steps(gathered(parameters, gather, ramp), parameters), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_gathered_adam_goes_on_where_it_was_saved():
    undisturbed, interrupted = fresh_parameters(), fresh_parameters()
    whole, part = gathered(undisturbed, 7), gathered(interrupted, 7)
    steps(whole, undisturbed, 5)
    steps(part, interrupted, 5)
    resumed = gathered(interrupted, 7)
    resumed.load_state_dict(part.state_dict(), resumed.optimizer_config)
    start = [parameter.detach().clone() for parameter in interrupted]
    for one, other in zip(steps(resumed, interrupted, 5), steps(whole, undisturbed, 5), strict=True):
        assert torch.equal(one, other)
    assert not any(torch.equal(one, before) for one, before in zip(interrupted, start, strict=True))


def test_no_fewer_than_no_gradients_are_gathered():
    with pytest.raises(ValueError, match="gather=-1: must be at least 0"):
        gathered(fresh_parameters(), -1)


@pytest.mark.parametrize("name", ["adam", "radam"])
def test_weight_decay_of_adam_and_radam_is_decoupled(name):
    assert one_step_without_gradient(name) == pytest.approx(1 - 0.5 * 0.1)


def test_weight_decay_of_sgd_is_l2():
    assert one_step_without_gradient("sgd") == pytest.approx(1 - 0.5 * 0.1)  # the same for one plain step …
    parameter = torch.nn.Parameter(torch.ones(1))
    cfg = OmegaConf.create({"_name": "lnexp_sgd", "lr": [0.5], "weight_decay": 0.1, "momentum": 0.5})
    optimizer = build_optimizer(cfg, [parameter])
    for _ in range(2):
        parameter.grad = torch.zeros(1)
        optimizer.step()
    # … but the penalty goes through the momentum: 1 → 0.95, then v = 0.5·0.1 + 0.095
    assert parameter.item() == pytest.approx(0.95 - 0.5 * (0.05 + 0.095))


def test_learning_rate_can_be_set():
    optimizer = build_optimizer(OmegaConf.create({"_name": "lnexp_adam", "lr": [0.5]}), fresh_parameters())
    optimizer.set_lr(0.125)
    assert optimizer.get_lr() == 0.125
    assert all(group["lr"] == 0.125 for group in optimizer.param_groups)


@pytest.mark.parametrize("case", sorted(set(CASES) - {"gathered_adam"}))  # whose class is our own
def test_a_saved_state_is_one_by_parameter_that_torch_goes_on_from(case):
    options, torch_class, arguments = CASES[case]
    cfg = OmegaConf.create({"_name": f"lnexp_{case.partition(',')[0]}", "lr": [0.01], **options})
    mine = fresh_parameters()
    ours = build_optimizer(cfg, mine)
    steps(ours, mine, count=5)
    theirs = [torch.nn.Parameter(parameter.detach().clone()) for parameter in mine]
    direct = torch_class(theirs, lr=0.01, foreach=False, **arguments)
    direct.load_state_dict(ours.state_dict() | {"param_groups": direct.state_dict()["param_groups"]})
    for one, other in zip(steps(ours, mine, count=5), steps(direct, theirs, count=5), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
