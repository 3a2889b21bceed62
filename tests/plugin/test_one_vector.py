"""Parameters and their gradients are parts of one vector, and what is done to either is done to the other."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lnexp.plugin.one_vector import OneVector

SHAPES = st.lists(st.lists(st.integers(1, 4), max_size=3).map(tuple), min_size=1, max_size=6)


def drawn(shapes) -> list[torch.Tensor]:
    return [torch.randn(shape) for shape in shapes]


def joined(tensors) -> list[float]:
    return [number for tensor in tensors for number in tensor.flatten().tolist()]


@given(SHAPES)
def test_values_stay_and_share_the_memory_of_the_vector(shapes):
    values = drawn(shapes)
    parameters = [nn.Parameter(value.clone()) for value in values]
    whole = OneVector(parameters).whole
    assert [parameter.shape for parameter in parameters] == [value.shape for value in values]
    assert whole.tolist() == joined(values) == joined(parameters)
    with torch.no_grad():
        whole.add_(1)
    assert joined(parameters) == whole.tolist()
    with torch.no_grad():
        parameters[-1].zero_()
    assert joined(parameters) == whole.tolist()


@given(SHAPES)
def test_gradients_of_a_backward_pass_are_those_of_the_vector(shapes):
    parameters = [nn.Parameter(value) for value in drawn(shapes)]
    vector = OneVector(parameters)
    for _ in range(2):  # the second pass adds to the first one
        torch.stack([(parameter**2).sum() for parameter in parameters]).sum().backward()
    assert vector.whole.grad is vector.gather()
    assert vector.gather().tolist() == pytest.approx([4 * number for number in joined(parameters)])


@given(SHAPES, st.data())
def test_gradients_that_are_set_anew_are_taken_in(shapes, data):
    parameters = [nn.Parameter(value) for value in drawn(shapes)]
    vector = OneVector(parameters)
    vector.gather().fill_(7)
    expected = []
    for parameter in parameters:
        what = data.draw(st.sampled_from(["kept", "new", "none"]))
        expected.append(torch.full_like(parameter, 7.0 if what == "kept" else 0.0))
        if what != "kept":
            parameter.grad = None
        if what == "new":
            expected[-1] = parameter.grad = torch.randn_like(parameter)
    assert vector.gather().tolist() == joined(expected)
    vector.gather().zero_()
    assert not any(parameter.grad.any() for parameter in parameters)


def test_a_model_loaded_later_is_what_the_vector_has():
    model = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    vector = OneVector(list(model.parameters()))
    model.load_state_dict({name: torch.ones_like(value) for name, value in model.state_dict().items()})
    assert vector.whole.tolist() == [1] * 12


def test_a_gradient_of_the_vector_that_others_dropped_is_there_again():
    """As an optimizer that wraps ours does it."""
    parameters = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))]
    vector = OneVector(parameters)
    vector.gather()
    vector.whole.grad = None
    parameters[0].grad.fill_(1)
    assert vector.gather() is vector.whole.grad
    assert vector.whole.grad.tolist() == [1, 1, 0, 0, 0]
