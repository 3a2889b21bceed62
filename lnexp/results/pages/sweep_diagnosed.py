"""Show what a sweep's runs recorded: at the best rate of a placement, and at the first above it that is not good."""

import statistics
from collections.abc import Iterable, Sequence
from itertools import product

from tabulate import tabulate

from lnexp.recipes.grid import Grid
from lnexp.results.evidence.by_arm import counted_by_arm
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.sweep_summary import PlacementSummary
from lnexp.tasks.diagnosed import DIAGNOSED, WINDOW

ARROW = " → "
#: Columns, and the measures that they are of: of the last snapshot, or the largest of any.
COLUMNS = {
    "largest attention logit": "max_attention_logit",
    "spike score of the loss, %": "spike_score_loss",
    "spike score of the gradient norm, %": "spike_score_grad_norm",
    "last log Z, nats": "last_log_z",
    "last angle of an update, rad": "last_angular_update",
}
EXPLANATION = (
    "Medians over seeds: at the best rate, and after the arrow at the lowest one above"
    " it at which most runs are not good. log Z and the angle are of the last snapshot, which longer runs have later."
    f" Spike scores leave out the first {WINDOW} updates; and a run that stalls has no spikes of its loss, so"
    " that a score of 0 is no sign of health."
)
NO_GOOD_RATE = " × marks what is good at no rate: the rate is that of the lowest nll."


def diagnosed_part(grid: Grid, summaries: Sequence[PlacementSummary], runs: Sequence[CountedRun]) -> list[str]:
    """Return a table with the shortest and the longest warm-up of each placement, and what it means; nothing where
    runs recorded none of it.
    """
    by_arm = counted_by_arm(runs)
    recorded = {
        column: DIAGNOSED[name]
        for column, name in COLUMNS.items()
        if any(DIAGNOSED[name](run) is not None for of_arm in by_arm.values() for run in of_arm)
    }
    if not recorded:
        return []
    shortest, *_, longest = grid.warmups
    rows = []
    for one, warmup in product(summaries, (shortest, longest)):
        good = one.good_at(warmup)
        rates = [one.best_rate[warmup], *(one.failing_above(warmup)[:1] if good else [])]
        arms = [by_arm[grid.arm(one.name, rate, warmup)] for rate in rates]
        cells = (ARROW.join(_median(map(measure, arm)) for arm in arms) for measure in recorded.values())
        tried = ARROW.join(f"{grid.rates[rate]:g}" for rate in rates)
        rows.append([one.label, grid.warmup_labels[warmup], tried if good else f"{tried} ×", *cells])
    headers = ["placement", "warm-up", "lr_max", *recorded]
    return [
        "### What runs recorded in training",
        EXPLANATION + (NO_GOOD_RATE if any("×" in row[2] for row in rows) else ""),
        tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True),
    ]


def _median(values: Iterable[float | None]) -> str:
    found = [value for value in values if value is not None]
    return f"{statistics.median(found):.3g}" if found else "–"
