"""Figures come from the tables of a folder of results alone."""

import math

import pandas as pd
import pytest

from lnexp.figures.folder import draw_all, drawings
from lnexp.figures.sweep import heat_maps, swept_of
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import load_recipe
from lnexp.result_tables import read_table

pytestmark = pytest.mark.slow

FOLDERS = sorted(path.parent for path in RESULTS_DIR.glob("*/*/*/verdicts.json"))
SWEPT = [folder for folder in FOLDERS if load_recipe(folder.name).sweep]
FIG2A = RESULTS_DIR / "small" / "toy" / "fig2a"


def name_of(folder) -> str:
    return "-".join(folder.parts[-3:])


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder not in SWEPT], ids=name_of)
def test_every_arm_that_was_measured_is_drawn(folder):
    recipe = load_recipe(folder.name)
    first = next(drawing for drawing in drawings(recipe, folder) if drawing.name == "figure")
    table = pd.read_csv(folder / ("measurements.csv" if recipe.measurement else "epochs.csv"))
    panels = first.rows[0] if recipe.measurement else [row[0] for row in first.rows]
    assert sum(len(panel.lines) for panel in panels) == table["arm"].nunique()
    for line in (line for row in first.rows for panel in row for line in panel.lines):
        assert len(line.x) == len(line.mean) == len(line.low) == len(line.high) > 0
        assert all(low <= mean + 1e-9 * abs(mean) for low, mean in zip(line.low, line.mean, strict=True))
        assert not any(map(math.isnan, line.mean))


@pytest.mark.parametrize("folder", SWEPT, ids=name_of)
def test_every_arm_of_a_sweep_is_a_cell_of_its_heat_maps(folder):
    runs = read_table(folder / "runs.csv")
    found = heat_maps(swept_of(load_recipe(folder.name), runs, "scope"))
    assert sum(axis.images[0].get_array().size for axis in found.axes if axis.images) == runs["arm"].nunique()


def test_what_the_tables_say_is_what_is_drawn():
    recipe = load_recipe("fig2a")
    (figure,) = drawings(recipe, FIG2A)
    table = pd.read_csv(FIG2A / "epochs.csv")
    bleu = figure.rows[0][1]
    for line, arm in zip(bleu.lines, recipe.arms.values(), strict=True):
        last = table[(table["arm"] == arm.name) & (table["epoch"] == 8)]["valid_bleu"]
        assert (line.mean[-1], line.low[-1], line.high[-1]) == pytest.approx((last.mean(), last.min(), last.max()))
    assert "3,000 training pairs" in figure.subtitle
    assert "seeds 101 to 110" in figure.subtitle


def test_pictures_of_what_is_no_more_are_removed(tmp_path):
    for name in ("runs.csv", "epochs.csv", "verdicts.json"):
        (tmp_path / name).write_bytes((FIG2A / name).read_bytes())
    (tmp_path / "gradients.png").touch()
    assert draw_all(load_recipe("fig2a"), tmp_path) == ["figure"]
    assert not (tmp_path / "gradients.png").exists()
    assert (tmp_path / "figure.pdf").stat().st_size > 5_000
    (tmp_path / "epochs.csv").write_text((FIG2A / "epochs.csv").read_text().splitlines()[0] + "\n")
    assert draw_all(load_recipe("fig2a"), tmp_path) == []
    assert not list(tmp_path.glob("figure.*"))
