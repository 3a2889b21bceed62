"""Measurements are registered by name and depend on settings and seed alone."""

from collections.abc import Sequence

import pytest
import torch

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.errors import UserError
from lnexp.theory.measurement import MEASUREMENTS, Context, measure

RELU = {"sigmas": [1.0, 2.0], "width": 8, "samples": 10}


def test_equal_seeds_find_equal_numbers_whatever_came_before():
    first = measure("relu_norm", Context(3), RELU)
    torch.randn(7)
    assert measure("relu_norm", Context(3), RELU) == first
    assert measure("relu_norm", Context(4), RELU) != first


def test_what_others_draw_is_not_disturbed():
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    measure("relu_norm", Context(3), RELU)
    assert torch.equal(torch.randn(3), expected)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("relu_nrom", RELU, "measurement=relu_nrom: no such measurement; did you mean relu_norm"),
        ("relu_norm", RELU | {"widht": 3}, "measurement relu_norm has no setting widht; did you mean width"),
        ("relu_norm", {"width": 8}, "measurement relu_norm: sigmas, samples: not set"),
        ("relu_norm", RELU | {"samples": 0}, "samples=0: must be at least 1"),
        ("relu_norm", RELU | {"samples": "x"}, "samples=x: must be a whole number"),
        ("relu_norm", RELU | {"sigmas": 1}, "measurement relu_norm: sigmas is"),
        ("relu_norm", RELU | {"sigmas": ["x"]}, "measurement relu_norm: sigmas is"),
        ("relu_norm", RELU | {"sigmas": [0]}, r"sigmas=\[0\]: must be above 0"),
        ("relu_norm", RELU | {"sigmas": [1.0, float("inf")]}, "measurement relu_norm: sigmas is not finite"),
        ("relu_norm", RELU | {"sigmas": [1e154]}, "measurement relu_norm, seed 1: squared_norm is inf"),
    ],
)
def test_mistakes_are_named(name, settings, message):
    with pytest.raises(UserError, match=message):
        measure(name, Context(1), settings)


def test_settings_of_other_types_are_the_measurements_own_matter(monkeypatch):
    def told(context, sizes, names: Sequence[str], share: "float" = 1.0):
        return [{"sizes": sizes, "names": names, "share": share}]

    monkeypatch.setitem(MEASUREMENTS, "told", told)
    settings = {"sizes": (1, 2), "names": ["a"], "share": 0.5}
    assert measure("told", Context(1), settings) == [settings]
