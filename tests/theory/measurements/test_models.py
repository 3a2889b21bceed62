"""Measurements of the models that are trained, at the smallest size."""

from dataclasses import replace
from itertools import product

import pytest
import torch

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.errors import UserError
from lnexp.theory.measurement import measure
from lnexp.theory.models import loss_of, untrained_placement

pytestmark = pytest.mark.slow

NARROW = [f"{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=32", "ffn_embed_dim=48")]


def test_the_gradient_of_every_layer_is_seen(context):
    settings = {"placement": "pre_ln", "layers": 2, "batches": 2, "tokens": 80, "model": NARROW}
    rows = measure("gradient_by_layer", context, settings)
    seen = {(row["side"], row["parameter"], row["layer"]) for row in rows}
    assert len(rows) == len(seen) == 2 * 2 * 2
    for row in rows:
        assert 0 < row["grad_norm"] < row["mean_grad_norm"], "minibatches differ"
        assert (row["source_variance"] > 0) == (row["side"] == "decoder")
    assert measure("gradient_by_layer", context, settings) == rows


def test_layer_by_layer_agrees_with_the_other_measurements(context):
    settings = {"placement": "peri_ln", "layers": 2, "batches": 2, "tokens": 80, "model": NARROW}
    rows = measure("layer_by_layer", context, settings)
    assert [(row["side"], row["layer"]) for row in rows] == [
        ("encoder", 1),
        ("encoder", 2),
        ("decoder", 1),
        ("decoder", 2),
    ]
    gradients = measure("gradient_by_layer", context, settings)
    for row in rows:
        mine = [seen["grad_norm"] for seen in gradients if (seen["side"], seen["layer"]) == (row["side"], row["layer"])]
        assert [row["W1"], row["W2"]] == mine
    assert rows[0]["output"] < rows[1]["output"], "each block adds to the residual stream"


def test_the_expected_gradient_is_that_of_the_mean_loss(context):
    probed = untrained_placement(context, "post_ln", NARROW, 2, 80)
    loss = sum(loss_of(probed, batch) for batch in probed.batches) / 2
    (gradient,) = torch.autograd.grad(loss, probed.model.decoder.layers[5].fc2.weight)
    settings = {"placement": "post_ln", "tied": True, "layers": [6], "batches": 2, "tokens": 80, "model": NARROW}
    last, *_ = measure("gradient_by_depth", context, settings)
    assert last["of"] == "last"
    assert last["grad_norm"] == pytest.approx(float(gradient.norm()), rel=1e-5)


def test_gradients_by_depth_are_also_those_of_all_layers(context):
    settings = {"placement": "pre_ln", "batches": 2, "tokens": 80, "model": NARROW}
    rows = measure("gradient_by_depth", context, settings | {"tied": True, "layers": [1, 2]})
    assert [(row["layers"], row["of"]) for row in rows] == list(product((1, 2), ("last", "mean", "greatest")))
    by_layer = measure("gradient_by_layer", context, settings | {"layers": 2})
    for norm in ("grad_norm", "mean_grad_norm"):
        norms = torch.tensor([row[norm] for row in by_layer], dtype=torch.float64)
        expected = [norms[-1], norms.prod() ** (1 / 8), norms.sort().values[-1]]
        assert [row[norm] for row in rows[3:]] == pytest.approx([float(value) for value in expected])


def test_a_gradient_of_zero_makes_the_geometric_mean_zero(context):
    settings = {"placement": "rezero", "tied": True, "layers": [1], "batches": 1, "tokens": 80, "model": NARROW}
    assert [row["grad_norm"] for row in measure("gradient_by_depth", context, settings)] == [0, 0, 0]


def test_norms_leave_out_padding(context):
    settings = {"placement": "post_ln", "at": "before_norm", "draws": 2, "batches": 2, "tokens": 200, "model": NARROW}
    found = measure("concentration", context, settings | {"delta": 0.125, "bins": 10})
    rows = [row for row in found if "layer" in row]
    tokens = 0
    for draw in range(2):
        drawn = replace(context, seed=1000 * context.seed + draw)
        tokens += sum(batch["ntokens"] for batch in untrained_placement(drawn, "post_ln", NARROW, 2, 200).batches)
    assert {row["positions"] for row in rows if row["side"] == "decoder"} == {tokens}
    assert [(row["side"], row["layer"]) for row in rows[:2]] == [("encoder", 1), ("encoder", 2)]
    assert len(rows) == 12
    for row in rows:
        assert 0 < row["epsilon"] < 1
        assert 0 < row["epsilon_of_both"] < 1
    for side in ("encoder", "decoder"):
        bars = [row["share"] for row in found if "share" in row and row["side"] == side]
        assert len(bars) == 10
        assert sum(bars) == pytest.approx(1)


def test_untied_models_have_an_output_projection_of_their_own(context):
    settings = {"placement": "pre_ln", "layers": [2], "batches": 1, "tokens": 80, "model": NARROW}
    tied, untied = (measure("gradient_by_depth", context, settings | {"tied": tied}) for tied in (True, False))
    assert tied[0]["grad_norm"] != untied[0]["grad_norm"]
    with pytest.raises(UserError, match="tied=2: must be true or false"):
        measure("gradient_by_depth", context, settings | {"tied": 2})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"placement": "pre_nl"}, "placement=pre_nl: there is none; did you mean pre_ln"),
        ({"layers": 0}, "layers=0: must be at least 1"),
        ({"model": ["encoder_attention_heads=5"]}, "heads"),
        ({"model": ["encoder_attention_heads=0"]}, "model"),
        ({"batches": 0}, "batches=0: must be at least 1"),
        ({"batches": 500}, "batches=500: the training data has"),
    ],
)
def test_one_clear_line_for_what_cannot_be(context, change, message):
    settings = {"placement": "post_ln", "layers": 2, "batches": 1, "tokens": 80, "model": NARROW} | change
    with pytest.raises(UserError, match=message):
        measure("gradient_by_layer", context, settings)


def test_amplification_is_measured_by_depth(context):
    settings = {"placement": "post_ln", "layers": [1, 2], "random_size": 1e-4, "gradient_size": 1e-5, "batches": 1}
    rows = measure("amplification", context, settings | {"tokens": 80, "model": NARROW})
    assert [(row["sublayers"], row["of"]) for row in rows] == list(
        product((2, 4), ("random", "gradient", "dependency"))
    )
    assert min(row["value"] for row in rows) > 0


def test_dependency_is_measured_for_each_pair(context):
    settings = {"placement": "pre_ln", "layers": 2, "batches": 1, "tokens": 80, "model": NARROW}
    rows = measure("dependency", context, settings)
    assert [(row["sublayer"], row["on"]) for row in rows] == [(i, j) for i in range(1, 5) for j in range(1, i + 1)]
    assert all(row["back"] == row["sublayer"] - row["on"] for row in rows)
    assert all(0 < row["share"] < 1 for row in rows)
