"""Make the tables of results: a row a run, a row a run and epoch, a row a probe record, and means by arm for people."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import pandas as pd

from lnexp.recipes.recipe import Arm, Recipe
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.statistics.intervals import Interval, Range, spread_of
from lnexp.runs import records
from lnexp.runs.identity import short_name
from lnexp.runs.status import DONE
from lnexp.tasks import load_task
from lnexp.tasks.contract import Field, Record, Score, Task
from lnexp.tasks.diagnosed import DIAGNOSED
from lnexp.tasks.measures import best, best_nll, last, last_known, test


def runs_table(runs: list[RunResult]) -> pd.DataFrame:
    """Return ``runs.csv``: a row a run, one that is missing or malformed included.

    It has columns of diagnostics as far as a run has them, so that tables of runs without them stay as they are.
    """
    rows = [_run_row(run) for run in runs]
    unknown = [name for name in DIAGNOSED if all(row[name] is None for row in rows)]
    return pd.DataFrame(rows).drop(columns=unknown)


def _run_row(run: RunResult) -> dict[str, Any]:
    cfg, task = run.cfg, run.task
    return {
        **_of_job(run),
        "model": short_name(cfg.model._name),
        "optimizer": short_name(cfg.optimizer._name),
        "lr_max": cfg.lr_max,
        "warmup_updates": cfg.warmup_updates,
        "lr_schedule": _schedule(cfg),
        "seed": run.job.seed,
        "status": run.state,
        "epochs": len(run.epochs),
        task.score.best: best(run, task.score),
        task.score.last: last(run, task.score),
        "best_valid_nll": best_nll(run),
        "last_valid_nll": last_known(run.epochs, "valid_nll"),
        task.score.test: test(run, task.score),
        **_numbers_of(run.end, task.test_fields),
        **_numbers_of(run.end, task.averaged_numbers()),
        "averaged_epochs": " ".join(map(str, run.end.get("averaged_epochs", []))),
        **{name: measure(run) for name, measure in DIAGNOSED.items()},
        **{column.name: column.value(run) for column in task.run_columns},
        "trained_on": trained_on(run),
        "seconds": records.seconds(run.epochs),
        "core_seconds": run.core_seconds,
        "device": run.environment.get("device"),
        "identity": run.identity,
    }


def _of_job(run: RunResult) -> dict[str, Any]:
    return {"recipe": run.job.recipe.name, "arm": run.job.arm.name}


def _schedule(cfg) -> str:
    form = cfg.lr_schedule.get("form")
    return f"{short_name(cfg.lr_schedule._name)}{f' ({form})' if form else ''}"


def _numbers_of(record: Record, fields: Sequence[Field]) -> dict[str, Any]:
    return {field.name: record.get(field.name) for field in fields}


def trained_on(run: RunResult) -> str | None:
    """Return how much a run was trained on, in words that tell a part of a known corpus from the whole; None where its
    environment does not say it.
    """
    data = run.environment.get("data", {})
    return run.task.size_in_words(data) if run.task.unit in data else None


def epochs_table(runs: list[RunResult]) -> pd.DataFrame:
    """Return ``epochs.csv``: a row a run and epoch."""
    columns = _epoch_columns(runs[0].task)
    rows = [of_run(run) | {column: record.get(column) for column in columns} for run in runs for record in run.epochs]
    return pd.DataFrame(rows, columns=[*of_run(runs[0]), *columns])


def of_run(run: RunResult) -> dict[str, Any]:
    """Return the columns that say which run a row is of."""
    return {**_of_job(run), "seed": run.job.seed, "identity": run.identity}


def _epoch_columns(task: Task) -> list[str]:
    measured = ("valid_loss", "valid_nll", task.score.valid, *task.epoch_columns)
    return ["epoch", "update", *measured, "train_loss", "lr", "grad_norm", "seconds", "tokens_per_second"]


def probes_table(runs: list[RunResult]) -> pd.DataFrame:
    """Return ``probes.csv``: a row a probe record."""
    rows = [
        of_run(run) | {key: value for key, value in record.items() if key != "kind"}
        for run in runs
        for record in run.probes
    ]
    return pd.DataFrame(rows)


def arms_table(recipe: Recipe, runs: pd.DataFrame, divided: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return, for people, a row an arm: means with their 95% intervals over the seeds that are over.

    Args:
        recipe: whose arms they are.
        runs: its ``runs.csv``.
        divided: the arms that get the range of their runs instead, see
            :func:`lnexp.results.measures.success.divided_arms`.
    """
    score = load_task(recipe.task).score
    means = {
        score.best: f"best valid {score.title}",
        score.last: f"last valid {score.title}",
        "best_valid_nll": "best valid nll",
        score.test: f"test {score.title}",
    }
    if averaged := _most_averaged(runs):
        means[score.averaged_test] = f"test {score.title}, last {averaged} averaged"
    by_arm: dict[str, list[dict[Any, Any]]] = {}
    for row in runs.to_dict("records"):
        by_arm.setdefault(row["arm"], []).append(row)
    return [
        _arm_row(arm, by_arm[arm.name], means, partial(_spread, score, divided=arm.name in divided))
        for arm in recipe.arms.values()
        if arm.name in by_arm
    ]


def _spread(score: Score, column: str, values: list[float], divided: bool) -> Interval | Range | None:
    """Return the mean of a column of ``runs.csv`` over runs with its spread."""
    return spread_of(values, divided, *score.bounds_of(column))


def _most_averaged(runs: pd.DataFrame) -> int:
    """Return the largest number of checkpoints that a run averaged for its test; 0 where none did."""
    if "averaged_epochs" not in runs:
        return 0
    return max((len(epochs.split()) for epochs in runs["averaged_epochs"].dropna().astype(str)), default=0)


def _arm_row(
    arm: Arm,
    mine: list[dict[Any, Any]],
    means: dict[str, str],
    spread: Callable[[str, list[float]], Interval | Range | None],
) -> dict[str, Any]:
    over = [row for row in mine if row["status"] in DONE]
    diverged = sum(row["status"] == "diverged" for row in over)
    first = mine[0]

    def mean(column: str) -> str:
        found = spread(column, [float(row[column]) for row in over if not pd.isna(row[column])])
        return str(found) if found else "–"

    return {
        "arm": arm.label,
        "name": arm.name,
        "lr_max": f"{first['lr_max']:g}",
        "T_warmup": int(first["warmup_updates"]),
        "schedule": first["lr_schedule"],
        "trained on": ", ".join(sorted({row["trained_on"] for row in mine if not pd.isna(row["trained_on"])})) or "–",
        "runs": f"{len(over)} of {len(mine)}{f', {diverged} diverged' if diverged else ''}",
        **{title: mean(column) for column, title in means.items()},
    }
