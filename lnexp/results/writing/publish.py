"""Move results of this machine into the published ones."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.paths import LOCAL_RESULTS_DIR, RESULTS_DIR
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table, result_folders, rows_over
from lnexp.results.evidence.provenance import read_provenance
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.pages.verdict_pages import write_page


def publish(
    recipe: str,
    profile: str | None = None,
    data: str | None = None,
    local: Path = LOCAL_RESULTS_DIR,
    published: Path = RESULTS_DIR,
) -> list[Path]:
    """Move folders of local results to where the published ones are, replacing these, and write the page of verdicts.

    Args:
        recipe: whose results.
        profile: only this one; None: all.
        data: only this corpus; None: all.
        local: the root of the local results.
        published: the root of the published ones.

    Returns:
        The folders in their new place.

    Raises:
        UserError: where there are no such local results, or :func:`publish_folders` refuses them.
    """
    wanted = [
        folder
        for folder in result_folders(local)
        if folder.name == recipe and profile in (None, folder.parts[-3]) and data in (None, folder.parts[-2])
    ]
    if not wanted:
        of = "/".join((profile or "*", data or "*", recipe))
        raise UserError(f"{local / of}: no such results; reproduce, collect or probe makes them")
    return publish_folders(wanted, local, published)


def publish_folders(
    folders: Sequence[Path], local: Path = LOCAL_RESULTS_DIR, published: Path = RESULTS_DIR
) -> list[Path]:
    """Move folders of local results, all of them or none, and return them in their new place.

    Raises:
        UserError: where one is malformed, lacks an arm or every run of one, has or plans fewer seeds than what it would
            replace, was made of another corpus or with other options, or has a claim that was not registered before
            published results with the same seeds.
    """
    for folder in folders:
        target = published / folder.relative_to(local)
        _mend(target)
        read_verdicts(folder / "verdicts.json")
        _refuse_lacking_arms(folder)
        if (target / "verdicts.json").is_file():
            _refuse_fewer_seeds(folder, target)
            _refuse_shorter_plan(folder, target)
            _refuse_other_scope(folder, target)
            _refuse_seen_seeds(folder, target)
    moved = [_replace(folder, published / folder.relative_to(local)) for folder in folders]
    write_page(published)
    write_page(local)
    return moved


def refuse_some_arms(options: Iterable[str]) -> None:
    """Refuse options that leave out arms of a recipe whose results are published. Raises UserError."""
    for option in options:
        if key_of(option) == "arms":
            raise UserError(f"{option}: published results have all arms of a recipe")


def _refuse_lacking_arms(folder: Path) -> None:
    """Raise UserError for a folder of results that says nothing of an arm: it was not asked for, or no run is over."""
    recipe, table = _recipe_and_table(folder)
    there, over = set(table["arm"]), set(_over(folder)["arm"])
    if lacking := [arm for arm in recipe.arms if arm not in there]:
        raise UserError(f"{folder}: lacks the arm {lacking[0]}; published results have all {len(recipe.arms)} arms")
    if waiting := [arm for arm in recipe.arms if arm not in over]:
        raise UserError(f"{folder}: no run of the arm {waiting[0]} is over")


def _refuse_fewer_seeds(folder: Path, old: Path) -> None:
    """Raise UserError where an arm has fewer seeds than those published, which would be lost."""
    here, there = (_over(one).groupby("arm")["seed"].nunique() for one in (folder, old))
    for arm in here.index.intersection(there.index):
        if here[arm] < there[arm]:
            raise UserError(f"{folder}: {arm} has {here[arm]} seeds, and {there[arm]} in {old}; delete {old} first")


def _refuse_shorter_plan(folder: Path, old: Path) -> None:
    """Raise UserError for results that plan fewer seeds than those published: with fewer they would count."""
    here, there = (len(read_provenance(one).planned or ()) for one in (folder, old))
    if here < there:
        raise UserError(f"{folder}: plans {here} seeds, and {old} {there}; delete {old} first")


def _refuse_other_scope(folder: Path, old: Path) -> None:
    """Raise UserError for results of another corpus, or with other options, than those published."""
    here, there = (read_verdicts(one / "verdicts.json").scope for one in (folder, old))
    if sorted(here.replace(",", "").split()) != sorted(there.replace(",", "").split()):  # in any order
        raise UserError(f"{folder}: of {here}, and {old} of {there}; delete {old} first")


def _refuse_seen_seeds(folder: Path, old: Path) -> None:
    """Raise UserError where a claim that was registered after results with some of these seeds would seem to be older.

    Code that trains these seeds again has the claim, so git cannot tell.
    """
    earlier, now = (_registered_before(one) for one in (old, folder))
    seen = sorted(set.intersection(*(_seeds(one) for one in (old, folder))))
    if seen and (wrong := [claim for claim in now if claim not in earlier]):
        raise UserError(
            f"{folder}: claim {wrong[0]} was not registered before the published results with seed {seen[0]};"
            " take seeds that it has not seen, by first_seed in the recipe"
        )


def _seeds(folder: Path) -> set[int]:
    """Return the seeds of the runs that are over, or of what was measured."""
    return set(_over(folder)["seed"])


def _over(folder: Path) -> pd.DataFrame:
    """Return the rows of the runs that are over, or of what was measured."""
    recipe, table = _recipe_and_table(folder)
    return table if recipe.measurement else rows_over(table)


def _registered_before(folder: Path) -> list[str]:
    """Return the claims of a folder of results that were registered before its runs."""
    return [claim.id for claim in read_verdicts(folder / "verdicts.json").claims if claim.registered == "before"]


def _recipe_and_table(folder: Path) -> tuple[Recipe, pd.DataFrame]:
    """Return the recipe of a folder of results and its table of runs, or of what was measured."""
    recipe = recipe_of_results(folder, folder.name)
    return recipe, read_table(folder / ("measurements.csv" if recipe.measurement else "runs.csv"))


def print_published(folders: Iterable[Path]) -> None:
    """Print where each folder lies now, and a warning if it was made with changes that are in no commit."""
    for folder in folders:
        print(f"published: {folder}")
        environments = read_provenance(folder).environments
        if any(environment.get("git", {}).get("dirty") for environment in environments):
            print(f"warning: {folder}: made with changes to the code that are in no commit; nobody else can repeat it")


def _aside(target: Path) -> Path:
    """Return where a folder lies until the one that replaces it is there."""
    return target.with_name(f".{target.name}.old")


def _mend(target: Path) -> None:
    """Put back a folder that was set aside by a command which was killed before it moved the other one."""
    if not target.exists() and _aside(target).exists():
        _aside(target).rename(target)


def _replace(folder: Path, target: Path) -> Path:
    """Move a folder; the one that it replaces is deleted when the new one is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    old = _aside(target)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    shutil.move(folder, target)
    shutil.rmtree(old, ignore_errors=True)
    return target
