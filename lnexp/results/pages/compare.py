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
        table = _side_by_side(_measured(ours, recipe), _measured(theirs, recipe), in_percent=True)
        what, ends = f"mean {recipe.plot['y']} of an arm by {recipe.plot['x']}", "%"
    else:
        score = load_task(recipe.task).score
        table = _side_by_side(_best_scores(ours, score.best), _best_scores(theirs, score.best))
        what, ends = f"mean best validation {score.title} of an arm", ""
    if table.empty:
        return f"{what}: no arm is in both"
    words = [
        f"{_name(arm)} {row['change']:+.3g}{ends} ({row['ours']:.4g}, published {row['theirs']:.4g})"
        for arm, row in table.iloc[:MOST_ARMS].iterrows()
    ]
    return f"{what}, largest differences of {len(table)}: {'; '.join(words)}"


def largest_differences(folders: Iterable[tuple[Path, Path]]) -> list[str]:
    """Return in words, for each score of runs, the arm of all recipes whose mean best one differs most.

    Args:
        folders: of our results, each with that of the published ones.
    """
    found: dict[str, tuple[float, str]] = {}
    for ours, theirs in folders:
        recipe = recipe_of_results(ours, ours.name)
        if recipe.measurement:
            continue
        score = load_task(recipe.task).score
        table = _side_by_side(_best_scores(ours, score.best), _best_scores(theirs, score.best))
        for arm, row in table.iloc[:1].iterrows():
            words = f"largest difference {recipe.name} {_name(arm)} {row['change']:+.3g} {score.title}"
            words = words if row["change"] else f"no arm's best {score.title} differs"
            found[score.title] = max(found.get(score.title, (0.0, words)), (abs(row["change"]), words))
    return [words for _, words in found.values()]


def _side_by_side(ours: pd.Series, theirs: pd.Series, in_percent: bool = False) -> pd.DataFrame:
    """Return ``ours``, ``theirs`` and ``change`` of what is in both, the largest changes first."""
    table = pd.concat([ours, theirs], axis=1, keys=("ours", "theirs"), join="inner").dropna()
    table = table.assign(change=table["ours"] - table["theirs"])
    if in_percent:  # what was zero has no change in percent
        table = table.assign(change=100 * table["change"] / table["theirs"].abs())[table["theirs"] != 0]
    return table.sort_values("change", key=abs, ascending=False, kind="stable")


def _best_scores(folder: Path, column: str) -> pd.Series:
    table = read_table(folder / "runs.csv")
    return rows_over(table).groupby("arm")[column].mean()


def _measured(folder: Path, recipe: Recipe) -> pd.Series:
    return read_table(folder / "measurements.csv").groupby(["arm", recipe.plot["x"]])[recipe.plot["y"]].mean()


def _name(arm: Hashable) -> str:
    """Return the name of an arm, or of an arm and an x."""
    return f"{arm[0]} at {arm[1]:g}" if isinstance(arm, tuple) else str(arm)


def _machines(ours: Path, theirs: Path) -> list[str]:
    """Return a line each where the machines, torch or the numerics are others."""
    return [
        f"other {what}: {' and '.join(mine)}; published: {' and '.join(published)}"
        for what, (mine, published) in others(ours, theirs).items()
    ]


def others(ours: Path, published: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return what is another in two folders of results, of :data:`SAID` but the commit, and what both say of it; older
    records have no instructions.
    """
    known = [read_provenance(folder).environments for folder in (ours, published)]
    said_of = {
        what: tuple(sorted({words for one in environments for words in said(one)}) for environments in known)
        for what, said in SAID.items()
        if what != "commit"
    }
    return {what: (mine, theirs) for what, (mine, theirs) in said_of.items() if mine and theirs and mine != theirs}
