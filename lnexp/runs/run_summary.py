"""Summarise a run for a terminal: state, curves and test."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lnexp.numerics import numerics_of
from lnexp.runs.folder import RunFolder
from lnexp.runs.progress import clock, state_of
from lnexp.runs.records import of_kind, seconds
from lnexp.runs.status_table import COLOURS
from lnexp.tasks import task_of
from lnexp.tasks.contract import Record, Task

BARS = "▁▂▃▄▅▆▇█"
#: The curves before and after the score's: keys of ``epoch`` records, and how their values are printed.
LOSSES = {"valid_loss": "{:.3f}", "valid_nll": "{:.3f}"}
PACE = {"train_loss": "{:.3f}", "lr": "{:.2e}", "grad_norm": "{:.2f}", "tokens_per_second": "{:,.0f}"}


def sparkline(values: Sequence[float | None]) -> str:
    """Return a bar a value, from the least to the greatest; a dot stands for None."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = (high - low) or 1.0
    return "".join("·" if value is None else BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)


def run_summary(folder: RunFolder, records: Sequence[Record]) -> Group:
    """Return a run's state, its curves and the result of its test.

    Args:
        folder: the run's.
        records: the run's, oldest first.

    Raises:
        UserError: where its status or config is malformed, or it is over and has no record.
    """
    task = task_of(folder.config)
    epochs = of_kind("epoch", records)
    state, why = state_of(folder, folder.path.parent.parent, records)
    head = Text.assemble(folder.name, "  ", (state, COLOURS.get(state, "")))
    if why:
        head.append(f": {why}")
    environment = folder.environment
    where = f"{environment['device']}, numerics {numerics_of(environment)}" if "device" in environment else "?"
    updates = epochs[-1]["update"] if epochs else 0
    facts = Text(f"{len(epochs)} epochs, {updates:,} updates, {clock(seconds(epochs))} on {where}")
    ends = [_end_text(record, task) for record in of_kind("end", records)]
    return Group(head, facts, *([_curves(epochs, task)] if epochs else []), *ends, Text(str(folder.path), style="dim"))


def _curves(epochs: Sequence[Record], task: Task) -> Table:
    table = Table("", "by epoch", "first", "last", "least", "greatest", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    score = {task.score.valid: f"{{:.{task.score.places}f}}"}
    for name, form in {**LOSSES, **score, **PACE}.items():
        values = [record.get(name) for record in epochs]
        known = [value for value in values if value is not None]
        if known:
            shown = (form.format(value) for value in (known[0], known[-1], min(known), max(known)))
            table.add_row(name, sparkline(values), *shown)
    return table


def _end_text(end: Record, task: Task) -> str:
    words = task.end_words(end)
    if (averaged := end.get(task.score.averaged_test)) is not None:
        epochs = ", ".join(map(str, end.get("averaged_epochs", [])))
        words += f"; {averaged:.{task.score.places + 1}f} by the average of epochs {epochs}"
    return words
