"""Norms of expected gradients, against sums by hand."""

import pytest
import torch
from torch import nn

from lnexp.errors import UserError
from lnexp.theory.gradients import gradient_norms


@pytest.fixture
def model():
    model = nn.Linear(2, 1, bias=True)
    model.register_parameter("spare", nn.Parameter(torch.zeros(1)))
    return model


def losses(model, inputs):
    return (model(torch.tensor(x)).sum() for x in inputs)


def test_the_expected_gradient_is_not_the_mean_of_norms(model):
    found = gradient_norms(model, ["weight"], losses(model, [[3.0, 4.0], [-3.0, 4.0]]))["weight"]
    assert found.expected == pytest.approx(4.0)  # of the mean (0, 4)
    assert found.mean == pytest.approx(5.0)


def test_gradients_are_left_alone(model):
    gradient_norms(model, ["weight"], losses(model, [[3.0, 4.0]]))
    assert model.weight.grad is None


def test_what_cannot_be_seen_is_an_error(model):
    with pytest.raises(UserError, match=r"wieght: the model has no such parameter; did you mean weight"):
        gradient_norms(model, ["wieght"], losses(model, [[1.0, 1.0]]))
    with pytest.raises(UserError, match="spare: the loss does not depend on it"):
        gradient_norms(model, ["spare"], losses(model, [[1.0, 1.0]]))
    with pytest.raises(UserError, match="no minibatch"):
        gradient_norms(model, ["weight"], [])
