"""The figure along training has the median over seeds of every layer, a row an arm."""

import pandas as pd
import pytest

from lnexp.figures.along import PANELS, along
from lnexp.figures.draw import figure_of
from lnexp.figures.names import ALONG
from lnexp.recipes.load import load_recipe


@pytest.fixture
def snapshots() -> pd.DataFrame:
    """Three seeds of two arms, two updates, a layer on each side."""
    rows = []
    for arm in ("post_ln_none", "pre_ln_none"):
        for seed in (71, 72, 73):
            for update in (1, 8):
                of = {"arm": arm, "seed": seed, "update": update}
                rows.append({**of, "side": "model", "layer": 0, "train_loss": float(seed)})
                for side in ("encoder", "decoder"):
                    numbers = {name: seed / update for name in PANELS if name != "train_loss"}
                    rows.append({**of, "side": side, "layer": 1, **numbers})
    return pd.DataFrame(rows)


def test_every_layer_is_a_line_of_medians(snapshots):
    snapshots.loc[snapshots.seed == 73, "gradient_norm"] *= 1000
    drawing = along(load_recipe("failure"), snapshots, "scope")
    assert drawing.name == ALONG
    assert [row[0].y_label for row in drawing.rows] == ["Post-LN, w/o warm-up", "Pre-LN, w/o warm-up"]
    loss, gradient = drawing.rows[0][:2]
    assert [(line.label, line.mean) for line in loss.lines] == [("model", [72.0, 72.0])]
    assert [line.label for line in gradient.lines] == ["encoder 1", "decoder 1"]
    assert [(line.x, line.mean) for line in gradient.lines] == [([1, 8], [72, 9])] * 2, "one far seed does not move it"
    assert "seeds 71 to 73" in drawing.subtitle


def test_arms_are_compared_on_one_scale(snapshots):
    snapshots.loc[snapshots.arm == "pre_ln_none", "hidden_state"] *= 100
    figure = figure_of(along(load_recipe("failure"), snapshots, "scope"))
    across = len(PANELS)
    for first, second in zip(figure.axes[:across], figure.axes[across:], strict=True):
        assert first.get_ylim() == second.get_ylim()
