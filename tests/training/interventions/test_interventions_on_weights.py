"""What each intervention makes of an update, computed by hand."""

import math

import pytest
import torch
from torch import Tensor

import lnexp.training.interventions  # noqa: F401  (registers them)
from lnexp.training.intervention import INTERVENTIONS, Intervention, Weight

#: Before an update; the optimizer adds to it what stands for its gradient.
START = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
CHANGE = torch.tensor([[0.1, -0.1], [0.1, 0.1]])


def made(name: str, *weights: Weight, update: int = 1, rate: float = 0.1, **options: object) -> list[Tensor]:
    """Return the changes of weights in an update of an optimizer that takes a step of the gradient."""
    registered = INTERVENTIONS[name]
    own = registered.options(**options) if registered.options else None
    intervention: Intervention = registered.factory(own, weights, lambda: torch.tensor([rate]))
    before = [weight.parameter.detach().clone() for weight in weights]

    def step() -> None:
        for weight in weights:
            weight.parameter.data += weight.parameter.grad

    intervention.make(update, step)
    return [weight.parameter.detach() - earlier for weight, earlier in zip(weights, before, strict=True)]


def weight(layer: int = 1, side: str | None = "decoder", change: Tensor = CHANGE) -> Weight:
    parameter = torch.nn.Parameter(START.clone())
    parameter.grad = change.clone()
    return Weight(parameter, side if layer else None, layer, 4 if layer else 0, stacked=False)


LATE = {"part": "last", "layers": 1, "updates": 10, "form": "warmup"}


@pytest.mark.parametrize(
    ("options", "update", "shares"),
    [
        ({}, 5, [1, 1, 1, 0.5]),
        ({}, 10, [1, 1, 1, 1]),
        ({}, 11, [1, 1, 1, 1]),
        ({"part": "first", "layers": 2}, 1, [1, 0.1, 0.1, 1]),
        ({"part": "all"}, 2, [0.2, 0.2, 0.2, 0.2]),
        ({"form": "frozen", "layers": 3}, 10, [1, 1, 0, 0]),
        ({"form": "frozen", "layers": 3}, 11, [1, 1, 1, 1]),
    ],
)
def test_late_updates_hold_back_their_part(options, update, shares):
    changes = made("late_updates", *(weight(layer) for layer in (0, 1, 2, 4)), update=update, **(LATE | options))
    for change, share in zip(changes, shares, strict=True):
        torch.testing.assert_close(change, share * CHANGE)


def test_layer_rates_have_a_geometric_mean_of_one_in_every_stack():
    weights = [weight(layer) for layer in (0, 1, 2, 3, 4)] + [weight(1, "encoder")]
    changes = made("layer_rates", *weights, decoder=0.5, encoder=1)
    factors = [float(change[0, 0] / CHANGE[0, 0]) for change in changes]
    assert factors == pytest.approx([1, 2**1.5, 2**0.5, 2**-0.5, 2**-1.5, 1], rel=1e-4)
    assert math.prod(factors[1:5]) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e6])
def test_normalised_gradients_have_one_size_and_their_direction(size):
    (change,) = made("normalised_gradients", weight(change=size * CHANGE))
    torch.testing.assert_close(change, CHANGE.sign(), atol=1e-5, rtol=1e-5)


def test_a_gradient_of_zero_stays_zero():
    (change,) = made("normalised_gradients", weight(change=torch.zeros(2, 2)))
    assert not change.any()


@pytest.mark.parametrize("size", [1e-22, 1e-24, 1e-30, 1e-38])
def test_a_gradient_whose_square_is_zero_stays_small(size):
    (change,) = made("normalised_gradients", weight(change=size * CHANGE))
    assert change.abs().max() < 1e-3


@pytest.mark.parametrize(("most", "rms"), [(2.0, 0.1), (1.0, 0.1), (0.3, 0.03)])
def test_changes_are_clipped_to_a_share_of_the_rate(most, rms):
    (change,) = made("clipped_changes", weight(), most=most)
    torch.testing.assert_close(change, CHANGE * rms / 0.1, atol=1e-6, rtol=1e-4)


def test_what_does_not_change_is_not_clipped():
    (change,) = made("clipped_changes", weight(change=torch.zeros(2, 2)), most=0.5)
    assert not change.any()


def test_in_an_array_each_member_is_measured_by_itself():
    parameter = torch.nn.Parameter(torch.zeros(2, 3, 3))
    parameter.grad = torch.stack([torch.full((3, 3), 4.0), torch.full((3, 3), -8.0)])
    one = Weight(parameter, "encoder", 1, 1, stacked=True)
    (change,) = made("normalised_gradients", one)
    assert change.tolist() == [[[1.0] * 3] * 3, [[-1.0] * 3] * 3]
