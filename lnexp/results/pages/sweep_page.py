"""Answer a sweep's question in tables for people: who needs warm-up, at which rates, how much, and what to take."""

import statistics
from collections.abc import Iterable, Sequence

from tabulate import tabulate

from lnexp.recipes.grid import Grid
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.success import success_of
from lnexp.results.measures.sweep_measures import none_is_enough, sweep_results
from lnexp.results.measures.sweep_summary import Cell, PlacementSummary, not_shown, summaries_of
from lnexp.results.pages.sweep_diagnosed import diagnosed_part
from lnexp.results.pages.sweep_in_words import (
    best_of,
    cost,
    highest_rates,
    lengths,
    rate_in_words,
    rates_in_words,
    text_of,
)
from lnexp.results.pages.sweep_untuned import choices_of
from lnexp.tasks import load_task

EXPLANATION = """\
All is of the final validation nll, {unit}; a run that diverged counts with {initial:g}, about that before \
training. A run is *good* if it is below {line}: {share:.0%} of the way from the best arm's mean to {initial:g}. \
*Trains*, above, is of `{measure}`: near either line they can disagree, and a run that is not good need not have \
failed. A rate is good *only with warm-up* where most runs are good with the longest warm-up, {longest:g} updates, and \
not most without, {shortest:g}; where runs with warm-up are longer, at low rates their further updates may be why. \
Good is a low bar: {line} is {times:.1f} times the best arm's mean, {best:.2f}. So beside it stands where *warm-up \
gains*: where, at the median over seeds, training without it ends more than {within:g} nats above the best length of \
warm-up at that rate, and that length is good. *Costs* is how much more nll the runs without warm-up have than those \
with the longest, each at its best rate, paired over seeds.

Best rates, and the order of placements, were chosen by the mean over these seeds, which favours what has several arms \
that are about as good: placements next to each other need not differ. Intervals are Student's t over seeds, 95%; \
where at a rate some runs are good and others are not, or the interval would reach below zero where no number can, the \
least and the greatest value stand in parentheses instead."""
NO_GOOD_RATE = """\
× marks a placement with a length of warm-up where at no rate most runs are good: its lr sensitivity says little, and \
it has no best rate."""
ENOUGH = """\
The columns are rates, the numbers the updates of the shortest warm-up that is enough: its nll is at most {within:g} \
above the lowest of the lengths at that rate, and that lowest is good. It can be enough and not good itself, or at a \
rate where all lengths are far from the best arm, which has {best:.2f}. Where seeds differ, the least and the \
greatest."""
SENSITIVITY = """\
The columns are lengths of warm-up, the numbers {unit}: how far the nll is above its lowest, the mean over the \
{rates} rates (Wortsman et al. 2023). It depends on which rates these are, and one run with a \
very high nll outweighs several that are slightly worse; at how many rates runs are good is above. Where the best rate \
is the lowest or the highest tried, the number is of one side of it alone and cannot be compared with others."""
HIGHEST = """\
The columns are lengths of warm-up; in parentheses stand lower rates at which not all runs are good, as where updates \
are too few. Where runs with a longer warm-up are longer, their further updates may be why they are good."""
OTHER_RATE = "A dagger marks placements whose branches or stream are scaled, so that their rates may not be comparable."


def sweep_page(recipe: Recipe, runs: Iterable[CountedRun]) -> str:
    """Return the tables of a recipe with a sweep, in Markdown, and what they mean; empty before all arms have a run.

    Args:
        recipe: whose sweep it is.
        runs: its runs.
    """
    runs = list(runs)
    results = sweep_results(recipe, runs)
    grid = results.grid
    summaries, line = summaries_of(results), results.line
    if line is None or results.best is None or not summaries:
        return ""
    explanation = EXPLANATION.format(
        unit=(unit := load_task(recipe.task).loss_unit),
        initial=grid.sweep.initial_nll,
        line=f"{line:.2f}",
        times=line / results.best,
        best=results.best,
        within=grid.sweep.within,
        share=grid.sweep.good,
        shortest=min(grid.warmups.values()),
        longest=max(grid.warmups.values()),
        measure=success_of(recipe).measure,
    )
    tables = [
        "### Who needs warm-up, and at which rates",
        _table(["placement", *ANSWERS], [_answer(grid, one) for one in summaries]),
        "### The highest rate at which all runs are good",
        HIGHEST,
        _table(_by_warmup(grid), [[one.label, *highest_rates(grid, one)] for one in summaries]),
        "### If the rate cannot be tuned",
        UNTUNED.format(rates=len(grid.rates)),
        _table(["placement", "warm-up", "nll over all rates", "good runs", "good at"], _untuned(grid, summaries)),
        "### How many runs are good",
        f"The columns are rates; the numbers are of {' / '.join(grid.warmup_labels.values())}.",
        _table(_by_rate(grid), _good(summaries)),
        "### How much warm-up is enough",
        ENOUGH.format(within=grid.sweep.within, best=results.best),
        _table(_by_rate(grid), [[one.label, *lengths(grid, one)] for one in summaries]),
        "### lr sensitivity",
        SENSITIVITY.format(unit=unit, rates=len(grid.rates)),
        _table(_by_warmup(grid), [[one.label, *_sensitivities(one)] for one in summaries]),
        "### The final nll at the best rate",
        f"The columns are lengths of warm-up, the numbers {unit}.",
        _table(_by_warmup(grid), [[one.label, *_tuned(grid, one)] for one in summaries]),
        *diagnosed_part(grid, summaries, runs),
    ]
    more = (
        NO_GOOD_RATE if any(not one.good_at(warmup) for one in summaries for warmup in grid.warmups) else "",
        OTHER_RATE if grid.sweep.other_rate else "",
        not_shown(results, summaries),
    )
    return "\n\n".join([" ".join(filter(None, (explanation, *more))), *tables])


ANSWERS = (
    "good without warm-up at lr_max",
    "good only with warm-up at",
    "warm-up gains at",
    "nll at its best warm-up and rate",
    "no warm-up costs",
    "good runs",
)


def _answer(grid: Grid, one: PlacementSummary) -> list[str]:
    without = next(iter(grid.warmups))
    warmup, rate = one.best
    best = one.cells[warmup][rate]
    where = f" at {grid.warmups[warmup]:g}, {rate_in_words(grid, rate)}" if one.good_at(warmup) else " ×"
    return [
        one.label,
        rates_in_words(grid, one.good_at(without)),
        rates_in_words(grid, one.good_only_with_warmup_at()),
        rates_in_words(grid, _gains_at(grid, one)),
        f"{text_of(one.best_nll, best.divided)}{where}",
        cost(grid, one),
        _count(cell for of in one.cells.values() for cell in of.values()),
    ]


def _gains_at(grid: Grid, one: PlacementSummary) -> list[str]:
    """Return the names of the rates at which, at the median over seeds, only a warm-up is enough."""
    least, most = min(grid.warmups.values()), none_is_enough(grid)
    medians = {rate: statistics.median_low(of_seeds.values()) for rate, of_seeds in one.shortest.items()}
    return [rate for rate, median in medians.items() if least < median < most]


UNTUNED = """\
The mean final nll over the {rates} rates, with the shortest and the longest warm-up, the lowest first. It depends on \
which rates these are; where runs with the longest warm-up are longer, a part of their lead may be their further \
updates."""


def _untuned(grid: Grid, summaries: Sequence[PlacementSummary]) -> list[list[str]]:
    """Return a row for each placement with the shortest and with the longest warm-up."""
    return [
        [
            one.label,
            grid.warmup_labels[warmup],
            text_of(one.over_rates[warmup], one.divided(warmup)),
            _count(one.cells[warmup].values()),
            rates_in_words(grid, one.good_at(warmup)),
        ]
        for one, warmup in choices_of(grid, summaries)
    ]


def _count(cells: Iterable[Cell]) -> str:
    """Return how many runs are good, as ``9 of 27``."""
    cells = list(cells)
    return f"{sum(cell.good or 0 for cell in cells)} of {sum(len(cell.nll) for cell in cells)}"


def _good(summaries: Sequence[PlacementSummary]) -> list[list[str]]:
    """Return the rows of good runs by rate; each number has the number of runs beside it where these differ."""
    every = [cell for one in summaries for of in one.cells.values() for cell in of.values()]
    alike = len({len(cell.nll) for cell in every}) == 1

    def words(cell: Cell) -> str:
        return f"{cell.good}" if alike else f"{cell.good} of {len(cell.nll)}"

    rates = next(iter(summaries[0].cells.values()))
    return [
        [one.label, *(" / ".join(words(of[rate]) for of in one.cells.values()) for rate in rates)] for one in summaries
    ]


def _sensitivities(one: PlacementSummary) -> list[str]:
    return [
        f"{text_of(of, one.divided(warmup))}{'' if one.good_at(warmup) else ' ×'}"
        for warmup, of in one.sensitivity.items()
    ]


def _tuned(grid: Grid, one: PlacementSummary) -> list[str]:
    return [
        f"{text_of(of, best_of(one, warmup).divided)}"
        + (f" at {rate_in_words(grid, one.best_rate[warmup])}" if one.good_at(warmup) else " ×")
        for warmup, of in one.tuned.items()
    ]


def _by_rate(grid: Grid) -> list[str]:
    return ["placement", *(f"{rate:g}" for rate in grid.rates.values())]


def _by_warmup(grid: Grid) -> list[str]:
    return ["placement", *grid.warmup_labels.values()]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)
