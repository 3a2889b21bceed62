"""Compare what ``runs.csv`` states of a run's settings with those that ``provenance.json`` has of it."""

from collections.abc import Sequence

from lnexp.results.claims import Evidence
from lnexp.results.published_evidence import PublishedRun

#: Columns of ``runs.csv`` that are options of the same name.
COLUMNS = ("lr_max", "warmup_updates", "seed")


def denied_by_settings(evidence: Sequence[Evidence]) -> list[str]:
    """Return which settings of runs are others than those they were trained with, as ``post_ln seed 1: lr_max``.

    Args:
        evidence: of one folder of results; measurements before training have no settings of their own and are left out.
    """
    runs = [one for one in evidence if isinstance(one, PublishedRun) and one.counts]
    return [f"{run.job.arm.name} seed {run.job.seed}: {', '.join(wrong)}" for run in runs if (wrong := _wrong(run))]


def _wrong(run: PublishedRun) -> list[str]:
    if not run.settings:
        return ["its settings are missing"]
    stated = {**run.end, "seed": run.job.seed}
    wrong = [name for name in COLUMNS if stated.get(name) != run.settings.get(name)]
    form = run.settings.get("lr_schedule.form")
    if form and f"({form})" not in str(stated.get("lr_schedule")):
        wrong.append("lr_schedule")
    return wrong
