"""Result tables: a row a run, a row a run and epoch, and a table for people."""

from typing import Any

import pandas as pd

from lnexp.corpora.known import train_pairs_in_words
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.results.collect import RunResult
from lnexp.results.intervals import interval
from lnexp.results.measures import RUN_MEASURES
from lnexp.runs import records
from lnexp.runs.folder import DONE
from lnexp.runs.identity import short_name

EPOCH_COLUMNS = (
    "epoch",
    "update",
    "valid_loss",
    "valid_nll",
    "valid_bleu",
    "bleu_signature",
    "n_sentences",
    "beam",
    "train_loss",
    "lr",
    "grad_norm",
    "seconds",
    "tokens_per_second",
)


def runs_table(runs: list[RunResult]) -> pd.DataFrame:
    """``runs.csv``: a row a run, one that is missing or malformed included."""
    return pd.DataFrame([_run_row(run) for run in runs])


def _run_row(run: RunResult) -> dict[str, Any]:
    cfg, measured = run.cfg, {name: RUN_MEASURES[name](run) for name in RUN_MEASURES}
    return {
        "recipe": run.job.recipe.name,
        "arm": run.job.arm.name,
        "model": short_name(cfg.model._name),
        "optimizer": short_name(cfg.optimizer._name),
        "lr_max": cfg.lr_max,
        "warmup_updates": cfg.warmup_updates,
        "lr_schedule": _schedule(cfg),
        "seed": run.job.seed,
        "status": run.state,
        "epochs": len(run.epochs),
        "best_valid_bleu": measured["best_bleu"],
        "last_valid_bleu": measured["last_bleu"],
        "best_valid_nll": measured["best_nll"],
        "last_valid_nll": measured["last_nll"],
        "test_bleu": measured["test_bleu"],
        "test_bleu_tokenised": run.end.get("test_bleu_tokenised"),
        "averaged_test_bleu": measured["averaged_test_bleu"],
        "averaged_test_bleu_tokenised": run.end.get("averaged_test_bleu_tokenised"),
        "averaged_epochs": " ".join(map(str, run.end.get("averaged_epochs", []))),
        "bleu_signature": run.end.get("bleu_signature"),
        "train_pairs": train_pairs(run),
        "trained_on": trained_on(run),
        "seconds": records.seconds(run.epochs),
        "device": run.environment.get("device"),
        "identity": run.identity,
    }


def _schedule(cfg) -> str:
    form = cfg.lr_schedule.get("form")
    return f"{short_name(cfg.lr_schedule._name)}{f' ({form})' if form else ''}"


def train_pairs(run: RunResult) -> int | None:
    """How many sentence pairs the run was trained on, by its own records."""
    return run.environment.get("data", {}).get("pairs", {}).get("train")


def trained_on(run: RunResult) -> str | None:
    """The same in words, which tell a part of a known corpus from the whole."""
    pairs = train_pairs(run)
    return None if pairs is None else train_pairs_in_words(pairs, run.environment["data"].get("part_of"))


def epochs_table(runs: list[RunResult]) -> pd.DataFrame:
    """``epochs.csv``: a row a run and epoch."""
    rows = [
        {"recipe": run.job.recipe.name, "arm": run.job.arm.name, "seed": run.job.seed, "identity": run.identity}
        | {column: record.get(column) for column in EPOCH_COLUMNS}
        for run in runs
        for record in run.epochs
    ]
    return pd.DataFrame(rows, columns=["recipe", "arm", "seed", "identity", *EPOCH_COLUMNS])


def probes_table(runs: list[RunResult]) -> pd.DataFrame:
    """``probes.csv``: a row a probe record."""
    return pd.DataFrame(
        [
            {"recipe": run.job.recipe.name, "arm": run.job.arm.name, "seed": run.job.seed, "identity": run.identity}
            | {key: value for key, value in record.items() if key != "kind"}
            for run in runs
            for record in run.probes
        ]
    )


#: Columns of ``runs.csv`` that people are shown the means of, and how they are called there.
MEANS = {
    "best_valid_bleu": "best valid BLEU",
    "last_valid_bleu": "last valid BLEU",
    "best_valid_nll": "best valid nll",
    "test_bleu": "test BLEU",
}


def arms_table(recipe: Recipe, runs: pd.DataFrame) -> list[dict[str, Any]]:
    """For people: a row an arm, means with their 95% intervals over the seeds that are over.

    Args:
        recipe: whose arms they are.
        runs: its ``runs.csv``.
    """
    means = dict(MEANS)
    if averaged := _most_averaged(runs):
        means["averaged_test_bleu"] = f"test BLEU, last {averaged} averaged"
    by_arm = dict(list(runs.groupby("arm")))
    return [_arm_row(arm, by_arm[arm.name], means) for arm in recipe.arms.values() if arm.name in by_arm]


def _most_averaged(runs: pd.DataFrame) -> int:
    """Of how many checkpoints the average was tested; 0 where none was."""
    if "averaged_epochs" not in runs:
        return 0
    return max((len(epochs.split()) for epochs in runs["averaged_epochs"].dropna().astype(str)), default=0)


def _arm_row(arm: Arm, mine: pd.DataFrame, means: dict[str, str]) -> dict[str, Any]:
    over = mine[mine["status"].isin(DONE)]
    diverged = int((over["status"] == "diverged").sum())

    def mean(column: str) -> str:
        found = interval(over[column].dropna().astype(float).tolist())
        return str(found) if found else "–"

    return {
        "arm": arm.label,
        "name": arm.name,
        "lr_max": f"{mine['lr_max'].iloc[0]:g}",
        "T_warmup": int(mine["warmup_updates"].iloc[0]),
        "schedule": mine["lr_schedule"].iloc[0],
        "trained on": ", ".join(sorted(mine["trained_on"].dropna().unique())) or "–",
        "runs": f"{len(over)} of {len(mine)}{f', {diverged} diverged' if diverged else ''}",
        **{title: mean(column) for column, title in means.items()},
    }
