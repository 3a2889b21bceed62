"""Measurements of the lemmas, against independent computation."""

import pytest
import torch
from torch import nn

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.errors import UserError
from lnexp.theory.measurement import Context, measure
from lnexp.theory.measurements.layer_norm_jacobian import jacobian


def test_relu_halves_the_squared_norm():
    for row in measure("relu_norm", Context(1), {"sigmas": [0.1, 10], "width": 256, "samples": 500}):
        assert row["squared_norm"] == pytest.approx(row["sigma"] ** 2 * 128, rel=0.02)


def test_the_jacobian_is_the_one_on_paper():
    """``(I − 1 1ᵀ/d − y yᵀ/d) / std``."""
    torch.manual_seed(0)
    width = 12
    norm = nn.LayerNorm(width, eps=0.0).double()
    x = torch.randn(width, dtype=torch.float64)
    y, std = norm(x).detach(), x.std(unbiased=False)
    eye = torch.eye(width, dtype=torch.float64)
    expected = (eye - 1 / width - torch.outer(y, y) / width) / std
    torch.testing.assert_close(jacobian(norm, x), expected, rtol=1e-10, atol=1e-12)


def test_the_jacobians_norm_falls_with_the_inputs():
    settings = {"width": 64, "decades": [0, 3, 7], "samples": 2, "mean": 0.0, "of": "norm"}
    rows = measure("layer_norm_jacobian", Context(1), settings)
    assert [row["norm"] for row in rows] == [1, 1e3, 1e7]
    for row in rows:
        assert row["to_claimed"] == pytest.approx(1, rel=0.05)
        assert row["spectral_norm"] == pytest.approx(row["to_claimed"] * 8 / row["norm"])
    shifted = settings | {"mean": 10.0, "decades": [4]}
    (row,) = measure("layer_norm_jacobian", Context(1), shifted)
    assert row["to_claimed"] > 5, "a mean makes the norm longer, and the Jacobian no smaller"
    (row,) = measure("layer_norm_jacobian", Context(1), shifted | {"of": "deviation"})
    assert row["to_claimed"] == pytest.approx(1, rel=1e-3)


def test_hidden_states_keep_the_second_lemma():
    settings = {"layers": 6, "width": 128, "positions": 8, "inputs": 4, "draws": 20}
    rows = measure("hidden_norm", Context(1), settings | {"placement": "post_ln"})
    post = [row["ratio"] for row in rows if row["of"] == "post"]
    assert len(post) == 6
    assert post == pytest.approx([1] * 6, rel=0.1)
    rows = measure("hidden_norm", Context(1), settings | {"placement": "pre_ln"})
    by_claim = {of: [row["ratio"] for row in rows if row["of"] == of] for of in ("pre_lower", "pre_upper")}
    assert min(by_claim["pre_lower"]) > 1 > max(by_claim["pre_upper"])


def test_the_last_gradient_falls_with_depth_for_pre_ln_alone():
    settings = {"by": "layers", "sizes": [2, 16], "other": 64, "positions": 8, "inputs": 8, "words": 50}
    settings |= {"embedding": "unit_norm"}
    ratios = {}
    for placement in ("post_ln", "pre_ln"):
        few, many = measure("last_layer_gradient", Context(1), settings | {"placement": placement})
        ratios[placement] = many["grad_norm"] / few["grad_norm"]
    assert ratios["post_ln"] > 0.7
    assert ratios["pre_ln"] < 0.6
    with pytest.raises(UserError, match="embedding=small: must be unit_norm or unit_entries"):
        measure("last_layer_gradient", Context(1), settings | {"placement": "pre_ln", "embedding": "small"})
    with pytest.raises(UserError, match="by=depth: must be width or layers"):
        measure("last_layer_gradient", Context(1), settings | {"placement": "pre_ln", "by": "depth"})


def test_the_gradients_of_every_layer_end_with_that_of_the_last():
    sizes = {"positions": 4, "inputs": 2, "words": 20, "placement": "post_ln"}
    rows = measure("stack_gradient_by_layer", Context(1), sizes | {"layers": 3, "width": 16})
    assert [(row["parameter"], row["layer"]) for row in rows] == [(w, n) for w in ("W1", "W2") for n in (1, 2, 3)]
    settings = sizes | {"by": "layers", "sizes": [3], "other": 16, "embedding": "unit_norm"}
    (last,) = measure("last_layer_gradient", Context(1), settings)
    assert rows[-1]["grad_norm"] == pytest.approx(last["grad_norm"])


def test_gradients_of_a_post_ln_decoder_grow_with_the_variance_of_its_attention_to_the_source():
    settings = {"positions": 8, "inputs": 4, "words": 50, "layers": 12, "width": 64, "placement": "post_ln"}
    grown = {}
    for sources in (1, 8):
        rows = measure("decoder_stack_gradient_by_layer", Context(1), settings | {"sources": sources})
        assert rows[0]["source_variance"] == pytest.approx(1 / sources, rel=0.5)
        first, *_, last = (row["grad_norm"] for row in rows if row["parameter"] == "W1")
        grown[sources] = last / first
    assert grown[1] > 3 * grown[8]
    with pytest.raises(UserError, match="sources"):
        measure("decoder_stack_gradient_by_layer", Context(1), settings | {"sources": 0})
