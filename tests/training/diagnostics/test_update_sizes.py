"""Sizes of updates are those of double precision, small angles included."""

import math

import pytest
import torch

from lnexp.training.diagnostics.update_sizes import UpdateSizes


@pytest.mark.parametrize("lr", [1e-5, 0.1])
def test_size_and_angle_are_those_of_the_matrices(one_update, lr):
    before = {name: one.detach().double() for name, one in one_update.model.named_parameters()}
    found = one_update.watched_by(UpdateSizes, lr)
    names = {name.removesuffix(".weight") for name, one in before.items() if one.dim() == 2}
    assert {name.partition(".")[2] for name in found} == names
    for name, one in one_update.model.named_parameters():
        if one.dim() != 2:
            continue
        w, v = before[name], one.detach().double()
        of = name.removesuffix(".weight")
        assert float(found[f"relative_update.{of}"]) == pytest.approx(float((v - w).norm() / w.norm()), rel=1e-4)
        rms = float((v - w).square().mean().sqrt()) / lr
        assert float(found[f"update_rms.{of}"]) == pytest.approx(rms, rel=1e-3)
        unit, other = w / w.norm(), v / v.norm()
        angle = 2 * math.atan2(float((unit - other).norm()), float((unit + other).norm()))
        assert float(found[f"angular_update.{of}"]) == pytest.approx(angle, rel=1e-3)


def test_a_matrix_that_only_shrinks_does_not_turn(one_update):
    watching = UpdateSizes(one_update.watched)
    watching.begin()
    with torch.no_grad():
        for parameter in one_update.model.parameters():
            parameter *= 0.75
    found = watching.end()
    assert float(found["relative_update.encoder.layers.0.fc1"]) == pytest.approx(0.25)
    assert float(found["angular_update.encoder.layers.0.fc1"]) < 1e-3
