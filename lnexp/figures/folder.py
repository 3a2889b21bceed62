"""The figures of a folder of results, from its tables alone."""

import json
from pathlib import Path

import pandas as pd

from lnexp.errors import UserError
from lnexp.figures.curves import curves
from lnexp.figures.draw import draw, forget
from lnexp.figures.layers import layers
from lnexp.figures.panels import Drawing
from lnexp.figures.probed import plots, probed
from lnexp.published import read_table
from lnexp.recipes.recipe import Recipe
from lnexp.runs.folder import DONE


def drawings(recipe: Recipe, folder: Path) -> list[Drawing]:
    """What there is to draw of a folder's runs that are over, or of its measurements before training.

    Args:
        recipe: whose results they are.
        folder: of results.

    Raises:
        UserError: where its verdicts.json is malformed.
    """
    scope = _scope(folder / "verdicts.json")
    if recipe.measurement:
        return probed(recipe, read_table(folder / "measurements.csv"), scope)
    runs = read_table(folder / "runs.csv")
    over = set(runs[runs["status"].isin(DONE)]["identity"])
    epochs, probes = (_of(over, folder / name) for name in ("epochs.csv", "probes.csv"))
    found = [] if epochs.empty else [curves(recipe, epochs, scope)]
    return found if probes.empty else [*found, *layers(recipe, probes)]


def _scope(path: Path) -> str:
    """What was measured on, in words. Raises UserError where the file does not say it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["scope"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{path}: malformed ({type(error).__name__}: {error})") from error


def draw_all(recipe: Recipe, folder: Path) -> list[Drawing]:
    """Draw them, and remove the pictures that are none of them any more."""
    found = drawings(recipe, folder)
    for name in {"figure", "gradients", "states", *plots(recipe)} - {drawing.name for drawing in found}:
        forget(name, folder)
    for drawing in found:
        draw(drawing, folder)
    return found


def _of(runs: set[str], path: Path) -> pd.DataFrame:
    """The rows of these runs; none where there is no such table."""
    if not path.exists():
        return pd.DataFrame()
    table = read_table(path)
    return table[table["identity"].isin(runs)]
