"""Take runs that are missing here from the published tables, so that several machines can share a recipe's seeds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.results.collect import RunResult
from lnexp.results.provenance import Provenance, read_provenance
from lnexp.results.published_evidence import PublishedRun, published_evidence
from lnexp.results.verdict_file import read_verdicts
from lnexp.runs.environment import Environment
from lnexp.tasks.contract import Record


def with_published(runs: list[RunResult], published: Path) -> list[RunResult]:
    """Return the runs of a recipe, those that are not over here as the published tables have them.

    Args:
        runs: all runs of one recipe at one profile and corpus.
        published: the root of the published results, where theirs need not be.

    Returns:
        As many runs, in their order. What tables do not have is missing: the host, and files beside the records.

    Raises:
        UserError: where the published results cannot be read.
    """
    recipe, cfg = runs[0].job.recipe, runs[0].cfg
    folder = published / cfg.profile / cfg.data.name / recipe.name
    if not folder.exists():
        return runs
    papers = read_verdicts(folder / "verdicts.json").papers
    try:
        provenance = read_provenance(folder)
        found = [run for run in published_evidence(recipe, folder, papers) if isinstance(run, PublishedRun)]
        over = {run.identity: run for run in found if run.counts}
        return [
            run if run.counts or run.identity not in over else _result(run, over[run.identity], provenance)
            for run in runs
        ]
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise UserError(f"{folder}: cannot be read ({type(error).__name__}: {error})") from error


def _result(missing: RunResult, found: PublishedRun, provenance: Provenance) -> RunResult:
    known = provenance.runs[found.identity]
    environment = known.environment | Environment(data=_manifest(provenance))
    return replace(
        missing,
        state=found.state,
        problem="",
        epochs=found.epochs,
        probes=found.probes,
        end=_end_record(found.end),
        environment=environment,
        command=known.command,
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
    return {**row, "averaged_epochs": [int(epoch) for epoch in averaged]}
