"""Hold the tables of a folder of results against each other, its recipe and its corpus."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from lnexp.numerics import FIRST, NUMERICS, numerics_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import COLUMNS, read_table
from lnexp.results.evidence.provenance import Provenance
from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.measures.outcomes import outcomes_table
from lnexp.results.verifying.rounding import alike
from lnexp.results.verifying.stated_by_early_numbers import refuse_other_early_numbers
from lnexp.results.verifying.stated_by_snapshots import refuse_other_snapshots
from lnexp.runs.status import State
from lnexp.tasks import load_task
from lnexp.tasks.contract import Field

#: All tables of results.
TABLES = (*COLUMNS, "outcomes.csv")
#: Tables with rows of runs, beside ``runs.csv``.
OF_RUNS = ("epochs.csv", "probes.csv", "snapshots.csv", "early.csv")
#: The columns that say which run a row is of.
RUN = ["arm", "seed", "identity"]


def refuse_disagreeing_tables(folder: Path, recipe: Recipe, runs: Sequence[PublishedRun], made: Provenance) -> None:
    """Refuse tables with rows that no other table names, or with numbers that follow from others and are not those.

    Args:
        folder: of results.
        recipe: of the results.
        runs: what the folder has on its arms; empty for a probe.
        made: what its ``provenance.json`` says.

    Raises:
        ValueError: for such tables.
    """
    tables = {name: read_table(folder / name) for name in TABLES if (folder / name).exists()}
    for name, table in tables.items():
        _refuse_others(name, table, recipe)
    if "runs.csv" in tables:
        _refuse_unnamed_runs(tables)
        _refuse_other_sizes(recipe, runs, made)
        _refuse_impossible(recipe, runs)
    if recipe.outcomes and "outcomes.csv" in tables:
        _refuse_other_outcomes(tables["outcomes.csv"], outcomes_table(recipe, [run for run in runs if run.counts]))
    _refuse_other_entries(runs, made)
    if "snapshots.csv" in tables:
        refuse_other_snapshots(tables["snapshots.csv"], runs)
    if "early.csv" in tables:
        refuse_other_early_numbers(tables["early.csv"], runs)


def _refuse_others(name: str, table: pd.DataFrame, recipe: Recipe) -> None:
    """Refuse rows of another recipe, or of an arm that it does not have."""
    for column, known in (("recipe", {recipe.name}), ("arm", set(recipe.arms))):
        if column in table and (others := set(table[column]) - known):
            raise ValueError(f"{name} has rows of the {column} {min(map(str, others))}")


def _refuse_unnamed_runs(tables: dict[str, pd.DataFrame]) -> None:
    named = _runs_of(tables["runs.csv"])
    for name in OF_RUNS:
        if name in tables and (others := _runs_of(tables[name]) - named):
            arm, seed, identity = min(others)
            raise ValueError(f"{name} has rows of a run that runs.csv does not have: {arm} seed {seed}, {identity}")


def _runs_of(table: pd.DataFrame) -> set[tuple[Any, ...]]:
    return set(zip(*(table[column].tolist() for column in RUN), strict=True))


def _refuse_other_entries(runs: Sequence[PublishedRun], made: Provenance) -> None:
    """Refuse runs that ``provenance.json`` alone has, or has although they are not over."""
    if others := made.runs.keys() - {run.identity for run in runs if run.counts}:
        raise ValueError(f"provenance.json has a run that is not over in runs.csv, or not there: {min(others)}")


def _refuse_other_sizes(recipe: Recipe, runs: Sequence[PublishedRun], made: Provenance) -> None:
    """Refuse runs that state another size of their corpus, or another way of scoring, than other files say."""
    task = load_task(recipe.task)
    words = {task.size_in_words(manifest) for manifest in made.data}
    sizes = {manifest[task.unit]["train"] for manifest in made.data}
    for run in runs if made.data else ():
        said = {
            "trained_on": run.end.get("trained_on", "") in words,
            f"train_{task.unit}": run.end.get(f"train_{task.unit}") in sizes | {None},
            f"{task.score.name}_signature": task.is_scored_by(run),
        }
        if run.counts and (wrong := [name for name, holds in said.items() if not holds]):
            raise ValueError(f"{run.job.arm.name} seed {run.job.seed}: {', '.join(wrong)} is not that of its data")


#: What a row of ``runs.csv`` can say of its run.
STATES = {*get_args(State), "not run", "malformed"}


def _refuse_impossible(recipe: Recipe, runs: Sequence[PublishedRun]) -> None:
    """Refuse a state that no run has, numerics that there are not yet, and scores and times beyond their bounds."""
    task = load_task(recipe.task)
    bounds = (*task.test_numbers(), *task.averaged_numbers(), *task.epoch_numbers(), Field("seconds", low=0.0))
    for run in runs:
        said = [{name: value for name, value in one.items() if value is not None} for one in (run.end, *run.epochs)]
        wrong = {one.name for one in bounds for of in said if not one.low <= of.get(one.name, one.low) <= one.high}
        if run.state not in STATES:
            wrong.add("status")
        if not FIRST <= numerics_of(run.environment) <= NUMERICS:
            wrong.add("numerics")
        if wrong:
            raise ValueError(f"{run.job.arm.name} seed {run.job.seed}: no run has such {', '.join(sorted(wrong))}")


def _refuse_other_outcomes(stated: pd.DataFrame, given: pd.DataFrame) -> None:
    if not alike(stated.to_dict("records"), given.to_dict("records")):
        raise ValueError("outcomes.csv has other rows than runs.csv gives")
