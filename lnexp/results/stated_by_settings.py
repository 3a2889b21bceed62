"""Compare what ``runs.csv`` states of a run's settings with those that ``provenance.json`` has of it."""

from lnexp.results.published_evidence import PublishedRun

#: Columns of ``runs.csv`` that are options of the same name.
COLUMNS = ("lr_max", "warmup_updates", "seed")


def denied_by_settings(run: PublishedRun) -> list[str]:
    """Return the columns of a run's row that are others than the settings it was trained with, as ``lr_max``."""
    if not run.settings:
        return ["its settings are missing"]
    stated = {**run.end, "seed": run.job.seed}
    wrong = [name for name in COLUMNS if stated.get(name) != run.settings.get(name)]
    form = run.settings.get("lr_schedule.form")
    if form and f"({form})" not in str(stated.get("lr_schedule")):
        wrong.append("lr_schedule")
    return wrong
