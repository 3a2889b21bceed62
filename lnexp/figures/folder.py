"""Make the figures of a folder of results from its tables."""

from pathlib import Path

import pandas as pd

from lnexp.figures.along import along
from lnexp.figures.by_arm import draw_by_arm
from lnexp.figures.by_checkpoint import by_checkpoint
from lnexp.figures.by_depth import by_depth
from lnexp.figures.curves import curves
from lnexp.figures.draw import draw, remove
from lnexp.figures.heat_maps import draw_heat_maps
from lnexp.figures.layers import layers
from lnexp.figures.names import ALONG, BY_ARM, BY_CHECKPOINT, BY_DEPTH, CURVES, GRADIENTS, STATES, SWEEP
from lnexp.figures.panels import Drawing
from lnexp.figures.probed import probed
from lnexp.figures.sweep import draw_sweep
from lnexp.figures.tuned_by_depth import tuned_by_depth
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table, rows_over
from lnexp.results.judging.verdict_file import read_verdicts


def drawings(recipe: Recipe, folder: Path) -> list[Drawing]:
    """Return the figures of a folder's runs that are over, or of its measurements.

    The runs of a sweep are too many for curves.

    Args:
        recipe: whose results they are.
        folder: of results.

    Raises:
        UserError: where its verdicts.json is malformed.
    """
    scope = read_verdicts(folder / "verdicts.json").scope
    if recipe.measurement:
        return probed(recipe, read_table(folder / "measurements.csv"), scope)
    runs = read_table(folder / "runs.csv")
    over = set(rows_over(runs)["identity"])
    epochs, probes = (_of(over, folder / name) for name in ("epochs.csv", "probes.csv"))
    mine = runs[runs["identity"].isin(over)]
    first = filter(None, (made(recipe, mine, scope) for made in (by_depth, tuned_by_depth, by_checkpoint)))
    snapshots = _of(over, folder / "snapshots.csv")
    found = [*first, *([] if epochs.empty or recipe.sweep else [curves(recipe, epochs, scope, mine)])]
    found += [] if snapshots.empty else [along(recipe, snapshots, scope)]
    return found if probes.empty else [*found, *layers(recipe, probes, scope)]


def draw_all(recipe: Recipe, folder: Path) -> list[str]:
    """Draw the figures of a folder into it, remove those that it has no more, and return the names of the others."""
    found = drawings(recipe, folder)
    for drawing in found:
        draw(drawing, folder)
    names = [drawing.name for drawing in found]
    scope = read_verdicts(folder / "verdicts.json").scope
    if recipe.measurement:
        names += draw_heat_maps(recipe, read_table(folder / "measurements.csv"), scope, folder)
    else:
        runs = read_table(folder / "runs.csv")
        names += draw_sweep(recipe, runs, scope, folder) if recipe.sweep else []
        names += draw_by_arm(recipe, rows_over(runs), scope, folder)
    possible = {ALONG, CURVES, GRADIENTS, STATES, BY_ARM, BY_DEPTH, BY_CHECKPOINT, *SWEEP, *recipe.plots}
    for name in possible.difference(names):
        remove(name, folder)
    return names


def _of(runs: set[str], path: Path) -> pd.DataFrame:
    """Return the rows of these runs; none where there is no such table."""
    if not path.exists():
        return pd.DataFrame()
    table = read_table(path)
    return table[table["identity"].isin(runs)]
