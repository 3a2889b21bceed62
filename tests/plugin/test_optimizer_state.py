"""A state by parameter says what one of the whole vector says."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lnexp.plugin.optimizer_state import by_parameter, of_vector, refuse_other_shapes

SHAPES = [torch.Size([4, 5]), torch.Size([7]), torch.Size([])]
SIZE = 28


def state_after(steps: int, optimizer_class, **options):
    parameter = nn.Parameter(torch.randn(SIZE))
    optimizer = optimizer_class([parameter], lr=0.1, **options)
    for _ in range(steps):
        parameter.grad = torch.randn(SIZE)
        optimizer.step()
    return optimizer.state_dict()


def equal(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    return one == other


@pytest.mark.parametrize("optimizer", [torch.optim.AdamW, torch.optim.RAdam, torch.optim.SGD])
@given(steps=st.integers(0, 3))
def test_a_state_goes_there_and_back(optimizer, steps):
    state = state_after(steps, optimizer)
    assert equal(of_vector(by_parameter(state, SHAPES), SHAPES), state)


def test_a_state_by_parameter_is_one_of_torch():
    """Each parameter has its own count of steps: torch counts in place."""
    state = by_parameter(state_after(3, torch.optim.AdamW), SHAPES)
    parameters = [nn.Parameter(torch.zeros(shape)) for shape in SHAPES]
    optimizer = torch.optim.AdamW(parameters, lr=0.1)
    optimizer.load_state_dict(copy.deepcopy(state))
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    assert [optimizer.state[parameter]["step"].item() for parameter in parameters] == [4, 4, 4]
    assert [optimizer.state[parameter]["exp_avg"].shape for parameter in parameters] == SHAPES


def test_a_copy_does_not_change_with_the_optimizer():
    parameter = nn.Parameter(torch.randn(SIZE))
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    parameter.grad = torch.ones(SIZE)
    optimizer.step()
    state = by_parameter(optimizer.state_dict(), SHAPES)
    optimizer.step()
    assert all((values["momentum_buffer"] == 1).all() for values in state["state"].values())


def test_a_parameter_without_a_state_gets_zeros():
    state = by_parameter(state_after(2, torch.optim.AdamW), SHAPES)
    first = state["state"].pop(0)
    whole = of_vector(state, SHAPES)["state"][0]
    assert whole["step"] == first["step"] == 2
    assert not whole["exp_avg"][:20].any()
    assert whole["exp_avg"][20:].all()


def test_a_state_of_other_parameters_is_refused():
    state = by_parameter(state_after(1, torch.optim.AdamW), SHAPES)
    refuse_other_shapes(state, SHAPES)
    with pytest.raises(ValueError, match="its optimizer has 3 parameters, not 2"):
        refuse_other_shapes(state, SHAPES[:2])
    with pytest.raises(ValueError, match=r"exp_avg is \(7,\) for a parameter \(8,\)"):
        refuse_other_shapes(state, [SHAPES[0], torch.Size([8]), SHAPES[2]])
