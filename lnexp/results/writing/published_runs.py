"""Take runs that are missing here from the published tables, so that several machines can share a recipe's seeds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lnexp.errors import UNREADABLE, UserError
from lnexp.recipes.load import recipe_of_results
from lnexp.result_tables import read_table
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.results.evidence.published_evidence import WHICH, PublishedRun, published_evidence
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.runs.environment import Environment
from lnexp.tasks.contract import Record


def with_published(runs: list[RunResult], published: Path) -> list[RunResult]:
    """Return the runs of a recipe, those that are not over here as the published tables of any recipe have them.

    Args:
        runs: all runs of one recipe at one profile and corpus.
        published: the root of the published results, where theirs need not be.

    Returns:
        As many runs, in their order. What tables do not have is missing: the host, and files beside the records.

    Raises:
        UserError: where the published results cannot be read.
    """
    cfg = runs[0].cfg
    for folder in _folders(published / cfg.profile / cfg.data.name, runs[0].job.recipe.name):
        if all(run.counts for run in runs):
            break
        runs = _with_those_of(runs, folder)
    return runs


def _folders(corpus: Path, recipe: str) -> list[Path]:
    """Return the published folders of a corpus that have runs, that of the recipe first: recipes share runs."""
    folders = [path.parent for path in sorted(corpus.glob("*/runs.csv"))]
    return sorted(folders, key=lambda folder: folder.name != recipe)


def _with_those_of(runs: list[RunResult], folder: Path) -> list[RunResult]:
    verdicts = read_verdicts(folder / "verdicts.json")
    try:
        provenance, recipe = read_provenance(folder), recipe_of_results(folder, verdicts.recipe)
        found = [one for one in published_evidence(recipe, folder, verdicts.papers) if isinstance(one, PublishedRun)]
        over, layers = {run.identity: run for run in found if run.counts}, _layers(folder)
        return [
            run if run.counts or run.identity not in over else _result(run, over[run.identity], provenance, layers)
            for run in runs
        ]
    except UNREADABLE as error:
        raise UserError(f"{folder}: cannot be read ({type(error).__name__}: {error})") from error


def _layers(folder: Path) -> dict[str, list[Record]]:
    """Return the rows of ``snapshots.csv`` by identity, without what names the run; none where there is no such table.

    A run that several arms have has one arm's, for they are the same.
    """
    if not (path := folder / "snapshots.csv").exists():
        return {}
    by_run = read_table(path).groupby(["arm", "identity"])
    rows_of = {str(identity): rows.drop(columns=list(WHICH)) for (_, identity), rows in by_run}
    return {identity: cast(list[Record], rows.to_dict("records")) for identity, rows in rows_of.items()}


def _result(
    missing: RunResult, found: PublishedRun, provenance: Provenance, layers: Mapping[str, list[Record]]
) -> RunResult:
    known = provenance.runs[found.identity]
    environment = known.environment | Environment(data=_manifest(provenance))
    return replace(
        missing,
        state=found.state,
        problem="",
        epochs=found.epochs,
        probes=found.probes,
        updates=[],  # an attempt here may have some, which are not of the published run
        snapshots=[],
        path=None,
        stated_early=found.early,
        stated_layers=layers.get(found.identity, []),
        end=_end_record(found.end),
        environment=environment,
        command=found.command if found.job.recipe.name == missing.job.recipe.name else missing.command,
        stated_core_seconds=found.end.get("core_seconds"),
    )


def _manifest(provenance: Provenance) -> dict[str, Any]:
    """Return the manifest of the corpus that all published runs have. Raises ValueError where there are several."""
    if len(provenance.data) != 1:
        raise ValueError(f"its runs were trained on {len(provenance.data)} preparations of the corpus")
    return provenance.data[0]


def _end_record(row: Record) -> Record:
    """Return the end record whose numbers a row of ``runs.csv`` has."""
    averaged = str(row.get("averaged_epochs", "")).split()
    return {**row, "averaged_epochs": [int(float(epoch)) for epoch in averaged]}
