"""The rates and updates of published epochs are those that the schedule and the length of their run give."""

import pandas as pd
import pytest

from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.verifying.judge_again import what_tables_deny

#: Results of every schedule, with an arm of it.
ARMS = [
    ("small/toy/fig4ab", "step"),
    ("small/toy/fig4ab", "linear"),
    ("small/toy/fig2a", "inverse_sqrt (decoupled)"),
    ("small/toy/fig2a_coupled", "inverse_sqrt (coupled)"),
    ("small/toy/small_fixed_lr", "constant"),
    ("paper/iwslt14-subset/paper_size", "inverse_sqrt (decoupled)"),
]


def _denied(folder, schedule, change):
    """Return what is denied after a change of the epochs of a run, the last with a schedule."""
    epochs, runs = (pd.read_csv(folder / name, dtype={"identity": str}) for name in ("epochs.csv", "runs.csv"))
    run = runs.loc[runs["lr_schedule"] == schedule, "identity"].iloc[-1]
    mine = epochs["identity"] == run
    epochs[mine] = change(epochs[mine].copy())
    epochs.to_csv(folder / "epochs.csv", index=False)
    return what_tables_deny(read_verdicts(folder / "verdicts.json"), folder)


@pytest.mark.parametrize(("place", "schedule"), ARMS)
@pytest.mark.parametrize("epoch", [0, -1])
def test_a_rate_that_the_schedule_does_not_give_is_named(copied, place, schedule, epoch):
    folder = copied(place)
    assert _denied(folder, schedule, lambda rows: rows) is None

    def change(rows):
        rows.loc[rows.index[epoch], "lr"] += 1e-7
        return rows

    denied = _denied(folder, schedule, change)
    assert "epochs.csv has other rates or updates than the schedule and the length give" in denied
    assert denied.endswith(": lr")


def test_epochs_of_other_lengths_are_named(copied):
    folder = copied("small/toy/small_fixed_lr")

    def change(rows):
        rows["update"] += range(len(rows))
        return rows

    assert _denied(folder, "constant", change).endswith(": update")


def test_a_run_with_all_its_epochs_has_not_diverged(fig2a):
    runs = pd.read_csv(fig2a / "runs.csv", dtype={"identity": str})
    runs.loc[0, "status"] = "diverged"
    runs.to_csv(fig2a / "runs.csv", index=False)
    denied = what_tables_deny(read_verdicts(fig2a / "verdicts.json"), fig2a)
    assert denied.endswith("epochs.csv gives other numbers than runs.csv states: no_warmup_low seed 101: status")
