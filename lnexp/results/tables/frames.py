"""Make the tables that programs ask for: runs, epochs and verdicts as pandas.DataFrames."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lnexp.plain import plain
from lnexp.results.evidence.mixed_code import code_of
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.judging.tally import tally
from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.tables import run_tables
from lnexp.results.tables.differing import differing

#: Columns of a run that each of its epochs has, too.
OF_EPOCHS = (
    "setting", "recipe", "arm", "model", "optimizer", "lr_max", "warmup_updates", "lr_schedule", "seed", "status",
    "identity", "folder",
)  # fmt: skip


def run_frame(runs: list[RunResult]) -> pd.DataFrame:
    """Return a row a run: the columns of ``runs.csv``, what differs between the runs, and their folders.

    Args:
        runs: of :func:`lnexp.results.writing.run_set.results_of`.
    """
    frame = run_tables.runs_table(runs)
    frame["recipe"] = [run.cfg.get("recipe") for run in runs]
    frame["arm"] = [run.cfg.get("arm") for run in runs]
    frame.insert(0, "setting", [run.job.arm.label for run in runs])
    frame["code"] = [code_of(run.environment) for run in runs]
    frame["folder"] = [str(run.path) for run in runs]
    return frame.join(_more_settings(runs, frame))


def _more_settings(runs: list[RunResult], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row a run of the options in which runs differ, without those that are columns of a table of them."""
    settings = pd.DataFrame(differing([plain(run.cfg) for run in runs]), index=frame.index)
    return settings[[key for key in settings if str(key).removesuffix("._name") not in frame]]


def epoch_frame(runs: list[RunResult]) -> pd.DataFrame:
    """Return a row a run and epoch: the settings of the run, then the columns of ``epochs.csv``.

    Args:
        runs: of :func:`lnexp.results.writing.run_set.results_of`.
    """
    of_run = run_frame(runs)
    settings = of_run[[*OF_EPOCHS, *_more_settings(runs, of_run[[*OF_EPOCHS]])]]
    epochs = run_tables.epochs_table(runs)
    return settings.merge(epochs.drop(columns=["recipe", "arm", "seed"]), on="identity", validate="one_to_many")


def verdict_frame(found: Sequence[RecipeVerdicts]) -> pd.DataFrame:
    """Return a row a claim of recipes that were run; ``repeated`` are those that an earlier row's numbers decide."""
    claims = [(one, claim) for one in found for claim in one.content.claims]
    repeated = {id(claim) for claim in tally(claim for _, claim in claims).repeated}
    return pd.DataFrame([_verdict_row(one, claim) | {"repeated": id(claim) in repeated} for one, claim in claims])


def _verdict_row(verdicts: RecipeVerdicts, claim: JudgedClaim) -> dict[str, Any]:
    estimate = claim.estimate
    return {
        "profile": verdicts.profile,
        "data": verdicts.data,
        "recipe": verdicts.recipe,
        "claim": claim.id,
        "verdict": claim.verdict,
        "counts": claim.counts,
        "left_out": claim.left_out,
        "holds_if": claim.holds_if,
        "form": claim.form,
        "estimate": estimate and estimate.mean,
        "low": estimate and estimate.low,
        "high": estimate and estimate.high,
        "p": claim.p,
        "exact_p": claim.exact_p,
        "seeds": claim.seeds,
        "planned": claim.planned,
        "source": claim.source,
        "command": claim.command,
    }
