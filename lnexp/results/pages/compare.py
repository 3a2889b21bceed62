"""Say how results of this machine compare with the published ones of the same profile, corpus and recipe."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from lnexp.errors import UNREADABLE, UserError
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table, rows_over
from lnexp.results.evidence.made_with import SAID
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.results.judging.verdict_file import Verdicts, read_verdicts
from lnexp.tasks import load_task

#: How many arms are named, those with the largest differences.
MOST_ARMS = 3


def print_comparisons(folders: Iterable[Path]) -> None:
    """Print how folders of results compare with the published ones; nothing of a folder that is published itself."""
    for folder in folders:
        theirs = RESULTS_DIR.joinpath(*folder.parts[-3:])
        if folder.resolve() != theirs.resolve():
            print("\n".join(comparison(folder, theirs)), flush=True)


def comparison(ours: Path, theirs: Path) -> list[str]:
    """Return lines on verdicts, the largest differences, settings, machines and numerics.

    Args:
        ours: a folder of results.
        theirs: the folder of the published ones, which need not exist.
    """
    name = "/".join(ours.parts[-3:])
    if not (theirs / "verdicts.json").is_file():
        return [f"{name}: no published results to compare with"]
    try:
        verdicts = read_verdicts(ours / "verdicts.json"), read_verdicts(theirs / "verdicts.json")
        recipe = recipe_of_results(ours, verdicts[0].recipe)
        lines = [
            *_settings(*verdicts),
            *_verdicts(*verdicts),
            _differences(recipe, ours, theirs),
            *_machines(read_provenance(ours), read_provenance(theirs)),
        ]
    except (UserError, *UNREADABLE) as error:
        return [f"{name}: cannot be compared with the published results: {error}"]
    return [f"{name}, compared with the published results:", *(f"  {line}" for line in lines)]


def verdicts_alike(ours: Verdicts, theirs: Verdicts) -> tuple[int, list[str]]:
    """Return how many claims both have, and the names of those with another verdict."""
    published = {claim.id: claim.verdict for claim in theirs.claims}
    both = [claim for claim in ours.claims if claim.id in published]
    return len(both), [claim.id for claim in both if claim.verdict != published[claim.id]]


def _settings(ours: Verdicts, theirs: Verdicts) -> list[str]:
    return [] if ours.scope == theirs.scope else [f"other settings: {ours.scope}; published: {theirs.scope}"]


def _verdicts(ours: Verdicts, theirs: Verdicts) -> list[str]:
    """Return a line on how many verdicts are alike, and one each on those that are not."""
    published = {claim.id: claim.verdict for claim in theirs.claims}
    mine = {claim.id: claim.verdict for claim in ours.claims}
    both, differ = verdicts_alike(ours, theirs)
    other = [f"{name} {mine[name]}, published {published[name]}" for name in differ]
    new = [name for name in mine if name not in published]
    alike = f"verdicts: {both - len(other)} of {both} alike"
    return [alike, *(f"  {line}" for line in other), *(f"  {name} not published" for name in new)]


def _differences(recipe: Recipe, ours: Path, theirs: Path) -> str:
    """Return the arms whose means differ most: in points of the score, or of a measurement in percent."""
    if recipe.measurement:
        of_arms = [_measured(folder, recipe) for folder in (ours, theirs)]
        what, ends = f"mean {recipe.plot['y']} of an arm by {recipe.plot['x']}", "%"
    else:
        score = load_task(recipe.task).score
        of_arms = [_best_scores(folder, score.best) for folder in (ours, theirs)]
        what, ends = f"mean best validation {score.title} of an arm", ""
    table = pd.concat(of_arms, axis=1, keys=("ours", "theirs"), join="inner").dropna()
    if table.empty:
        return f"{what}: no arm is in both"
    change = table["ours"] - table["theirs"]
    if recipe.measurement:  # what was zero has no change in percent
        change = (100 * change / table["theirs"].abs())[table["theirs"] != 0]
    largest = change.abs().sort_values(ascending=False, kind="stable").index[:MOST_ARMS]
    words = [
        f"{_name(arm)} {change[arm]:+.3g}{ends} ({table['ours'][arm]:.4g}, published {table['theirs'][arm]:.4g})"
        for arm in largest
    ]
    return f"{what}, largest differences of {len(table)}: {'; '.join(words)}"


def _best_scores(folder: Path, column: str) -> pd.Series:
    table = read_table(folder / "runs.csv")
    return rows_over(table).groupby("arm")[column].mean()


def _measured(folder: Path, recipe: Recipe) -> pd.Series:
    return read_table(folder / "measurements.csv").groupby(["arm", recipe.plot["x"]])[recipe.plot["y"]].mean()


def _name(arm: str | tuple[str, float]) -> str:
    return arm if isinstance(arm, str) else f"{arm[0]} at {arm[1]:g}"


def _machines(ours: Provenance, theirs: Provenance) -> list[str]:
    """Return a line each where the machines, torch or the numerics are others; older records have no instructions."""
    lines = []
    for what, said in SAID.items():
        mine, published = (
            {words for environment in known.environments for words in said(environment)} for known in (ours, theirs)
        )
        if what != "commit" and mine and published and mine != published:
            lines.append(f"other {what}: {' and '.join(sorted(mine))}; published: {' and '.join(sorted(published))}")
    return lines
