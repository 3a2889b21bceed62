"""Say how results of this machine compare with the published ones of the same profile, corpus and recipe."""

from collections.abc import Hashable, Iterable
from pathlib import Path

import pandas as pd

from lnexp.errors import UNREADABLE, UserError
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table, rows_over
from lnexp.results.evidence.made_with import SAID
from lnexp.results.evidence.provenance import read_provenance
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
            *_machines(ours, theirs),
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
        table, ends = _side_by_side(_measured(ours, recipe), _measured(theirs, recipe)), "%"
        what = f"mean {recipe.plot['y']} of an arm by {recipe.plot['x']}"
    else:
        table, whose = _scores(recipe, ours, theirs)
        what, ends = f"mean best validation {_title(recipe)} of an arm{whose}", ""
    if table.empty:
        return f"{what}: no arm is in both"
    count = len(table)
    if recipe.measurement:  # what was zero has no change in percent
        table = table.assign(change=100 * table["change"] / table["theirs"].abs())[table["theirs"] != 0]
    largest = table.sort_values("change", key=abs, ascending=False, kind="stable").iloc[:MOST_ARMS]
    words = [
        f"{_name(arm)} {row['change']:+.3g}{ends} ({row['ours']:.4g}, published {row['theirs']:.4g})"
        for arm, row in largest.iterrows()
    ]
    return f"{what}, largest differences of {count}: {'; '.join(words)}"


def largest_difference(ours: Path, theirs: Path) -> tuple[float, str] | None:
    """Return by how much the mean best validation score of an arm differs at most, in points, and that in words.

    Args:
        ours: a folder of results.
        theirs: the folder of the published ones.

    Returns:
        None for measurements, and where no arm is in both.

    Raises:
        UserError: for a recipe or a provenance that cannot be read; and the errors of
            :data:`lnexp.errors.UNREADABLE` for tables.
    """
    recipe = recipe_of_results(ours, ours.name)
    if recipe.measurement:
        return None
    table, whose = _scores(recipe, ours, theirs)
    if table.empty:
        return None
    place = int(table["change"].abs().argmax())
    change = float(table["change"].iloc[place])
    return abs(change), f"{recipe.name} {_name(table.index[place])} {change:+.3g} {_title(recipe)}{whose}"


def _title(recipe: Recipe) -> str:
    return load_task(recipe.task).score.title


def _scores(recipe: Recipe, ours: Path, theirs: Path) -> tuple[pd.DataFrame, str]:
    """Return the means of the best score of the arms in both, and whose seeds these are of.

    They are of the seeds that both have, so that fewer seeds are no difference; of all where they share none.
    """
    column = load_task(recipe.task).score.best
    both = [_best_scores(folder, column) for folder in (ours, theirs)]
    shared = both[0].index.intersection(both[1].index)
    if len(shared):
        both = [of.loc[shared] for of in both]
    return _side_by_side(*(of.groupby("arm").mean() for of in both)), "" if len(shared) else " (other seeds)"


def _side_by_side(ours: pd.Series, theirs: pd.Series) -> pd.DataFrame:
    """Return ``ours``, ``theirs`` and ``change`` of what is in both."""
    table = pd.concat([ours, theirs], axis=1, keys=("ours", "theirs"), join="inner").dropna()
    return table.assign(change=table["ours"] - table["theirs"])


def _best_scores(folder: Path, column: str) -> pd.Series:
    """Return the best score of each run, by arm and seed."""
    return rows_over(read_table(folder / "runs.csv")).set_index(["arm", "seed"])[column]


def _measured(folder: Path, recipe: Recipe) -> pd.Series:
    return read_table(folder / "measurements.csv").groupby(["arm", recipe.plot["x"]])[recipe.plot["y"]].mean()


def _name(arm: Hashable) -> str:
    """Return the name of an arm, or of an arm and an x."""
    return f"{arm[0]} at {arm[1]:g}" if isinstance(arm, tuple) else str(arm)


def _machines(ours: Path, theirs: Path) -> list[str]:
    """Return a line each where the machines, torch or the numerics are others."""
    return [
        f"other {what}: {' and '.join(mine)}; published: {' and '.join(published)}"
        for what, (mine, published) in made_differently(ours, theirs).items()
    ]


def made_differently(ours: Path, published: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return the keys of :data:`SAID`, without the commit, whose values differ, each with those of both folders.

    What either says nothing of is left out: older records have no instructions.
    """
    known = [read_provenance(folder).environments for folder in (ours, published)]
    said_of = {
        what: tuple(sorted({words for one in environments for words in said(one)}) for environments in known)
        for what, said in SAID.items()
        if what != "commit"
    }
    return {what: (mine, theirs) for what, (mine, theirs) in said_of.items() if mine and theirs and mine != theirs}
