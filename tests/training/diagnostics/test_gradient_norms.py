"""Gradient norms are those of the step that is made."""

import torch

from lnexp.training.diagnostics.gradient_norms import GradientNorms


def test_the_norm_is_that_of_the_step(one_update):
    weights = {name: one.detach().clone() for name, one in one_update.model.named_parameters() if one.dim() > 1}
    found = one_update.watched_by(GradientNorms, lr=0.5)
    assert len(found) == len(weights)
    for name, before in weights.items():
        step = (before - one_update.model.get_parameter(name).detach()) / 0.5
        of = f"gradient_norm.{name.removesuffix('.weight')}"
        torch.testing.assert_close(found[of], step.norm().reshape(1), rtol=1e-4, atol=1e-7)


def test_in_half_precision_there_is_none(one_update):
    one_update.model.bfloat16()
    assert GradientNorms(one_update.watched).end() == {}
