"""One run at a glance, for a terminal."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lnexp.runs.folder import RunFolder
from lnexp.runs.progress import clock, state_of
from lnexp.runs.records import Record, seconds
from lnexp.runs.status_table import COLOURS

BARS = "▁▂▃▄▅▆▇█"
#: What an epoch record says that has a line of its own, and how it is printed.
CURVES = {"valid_loss": "{:.3f}", "valid_nll": "{:.3f}", "valid_bleu": "{:.1f}", "train_loss": "{:.3f}", "lr": "{:.2e}"}
CURVES |= {"grad_norm": "{:.2f}", "tokens_per_second": "{:,.0f}"}


def sparkline(values: Sequence[float | None]) -> str:
    """A bar a value, from the least to the greatest; what is no number is a dot."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = (high - low) or 1.0
    return "".join("·" if value is None else BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)


def portrait(folder: RunFolder, records: Sequence[Record]) -> Group:
    """State, curves, and what the test gave.

    Args:
        folder: the run's.
        records: its own, oldest first.
    """
    epochs = [record for record in records if record["kind"] == "epoch"]
    state, why = state_of(folder, folder.path.parent.parent)
    head = Text.assemble(folder.name, "  ", (state, COLOURS.get(state, "")))
    if why:
        head.append(f": {why}")
    where = folder.environment.get("device", "?")
    updates = epochs[-1]["update"] if epochs else 0
    facts = Text(f"{len(epochs)} epochs, {updates:,} updates, {clock(seconds(epochs))} on {where}")
    ends = [_end_words(record) for record in records if record["kind"] == "end"]
    return Group(head, facts, *([_curves(epochs)] if epochs else []), *ends, Text(str(folder.path), style="dim"))


def _curves(epochs: Sequence[Record]) -> Table:
    table = Table("", "by epoch", "first", "last", "least", "greatest", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for name, form in CURVES.items():
        values = [record.get(name) for record in epochs]
        known = [value for value in values if value is not None]
        if known:
            shown = (form.format(value) for value in (known[0], known[-1], min(known), max(known)))
            table.add_row(name, sparkline(values), *shown)
    return table


def _end_words(end: Record) -> str:
    if end["test_bleu"] is None:
        return "test: no checkpoint that decodes"
    tokenised, averaged = end.get("test_bleu_tokenised"), end.get("averaged_test_bleu")
    words = f"test BLEU {end['test_bleu']:.2f}"
    if tokenised is not None:
        words += f" ({tokenised:.2f} tokenised)"
    words += f", epoch {end.get('checkpoint_epoch', '?')}"
    if averaged is not None:
        words += f"; {averaged:.2f} by the average of epochs {', '.join(map(str, end.get('averaged_epochs', [])))}"
    return words
