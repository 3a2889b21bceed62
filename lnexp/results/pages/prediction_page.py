"""Show which early number of a sweep's runs tells how they end, in tables and a sentence."""

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.grid import grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.prediction import LEAST, LR_MAX, LR_REACHED, HeldOut, Judged, Prediction, most_often
from lnexp.results.measures.sweep_measures import sweep_results
from lnexp.results.measures.sweep_summary import label_of

#: What people read of a number.
WORDS = {
    LR_MAX: "lr_max",
    LR_REACHED: "rate reached",
    "train_loss": "training loss",
    "grad_norm": "gradient norm",
    "log_z": "log Z of the output",
    "relative_update": "‖ΔW‖/‖W‖",
    "angular_update": "angle of an update",
    "update_rms": "size of an update, in learning rates",
    "attention_entropy": "entropy of attention",
    "attention_logit": "largest attention logit",
    "hidden_cosine": "cosine of hidden states",
    "encoder_gradient_share": "encoder's share of the gradient",
    "sharpness": "sharpness",
}
EXPLANATION = """\
Spearman's rank correlation of an early number with the final nll, over the {runs} runs of \
a seed, as far as they have it; 1 says that the greater it is, the worse a run ends. Loss and gradient norm are means \
over the second half of the updates up to the one named, the others are of that update. lr_max and the rate reached, \
lr_max · min(1, update/T_warmup), are known before training. Mean over seeds, and the least and the greatest of them."""
WITHIN = """\
The same over the runs of {placements}, so that it cannot only tell placements apart:"""
CHOSEN = """\
For each seed, the other seeds chose the early number that best predicts how a run ends: of the {candidates} that \
{whose}, each a quantity at one update, the one whose mean rank correlation (Spearman's) with the final nll is \
largest in size. Chosen were: {picked}. In the seed left out the correlation, positive where its sign is that in the \
others, is {correlation}.

Compare it with what other seeds have told before a run begins: the mean final nll of the same arm (placement, lr_max \
and T_warmup) has {of_arm}. Of lr_max and the rate that the warm-up has reached (lr_max · min(1, update/T_warmup)), \
without the placement, the same choice is {known}.

Among runs of one arm, with number and final nll as differences from their arm's mean over seeds, the correlation, \
positive where its sign is that over all runs, is {within}: a number whose correlation is near zero there tells arms \
apart, and little of how one run of an arm ends.

Only these choices were tested on runs that did not choose them. A seed left out has the same arms, so they say that a \
number tells the same with another seed, and nothing of other rates, lengths of warm-up or models. ‖ΔW‖/‖W‖ and the \
angle of an update contain the rate that the warm-up has reached. A correlation does not show a cause, and a run that \
is not good need not have failed."""
#: Whose numbers can be chosen.
ALL = "all runs have"
MOST = "at least {share:.0%} of the runs of each seed have (those that lack one are left out of it)"
SHORT = """\
the one that other seeds chose ({picked}) has a rank correlation of {correlation} with the final nll in the seed left \
out; but the rate alone (lr_max, or what the warm-up has reached of it) has {known}, the mean of the same arm in the \
other seeds {of_arm}, and among the runs of one arm the correlation is {within}"""
PAIRS = ", and it tells a good run from one that is not in {percent:.3g}% of pairs"
#: Up to how many placements have a table each.
FEW = 2


def read_early(folder: Path) -> pd.DataFrame | None:
    """Return ``early.csv`` of a folder of results; None where it has none."""
    path = folder / "early.csv"
    return read_table(path) if path.exists() else None


def prediction_page(recipe: Recipe, runs: Iterable[CountedRun], early: pd.DataFrame | None) -> str:
    """Return the tables of a recipe with a sweep, in Markdown, and what was tested; empty before a seed has a run of
    all arms.

    Args:
        recipe: whose sweep it is.
        runs: its runs.
        early: their early numbers, see :func:`read_early`.
    """
    made = _prediction(recipe, runs, early)
    if made is None:
        return ""
    found, line = made
    grid = grid_of(recipe)
    labels = {name: label_of(grid, name) for name in grid.labels}
    explanation = EXPLANATION.format(runs=len(grid.names))
    parts = [
        "### Which early number tells how a run ends",
        explanation,
        _table(found),
        *_within(found, labels),
        _tested(found, line),
    ]
    return "\n\n".join(filter(None, parts))


def prediction_in_words(recipe: Recipe, runs: Iterable[CountedRun], early: pd.DataFrame | None) -> str:
    """Return which number was chosen, and what it told of seeds left out, without tables; empty for one seed."""
    made = _prediction(recipe, runs, early)
    return _tested(*made) if made else ""


def prediction_in_short(recipe: Recipe, runs: Iterable[CountedRun], early: pd.DataFrame | None) -> str:
    """Return the correlations that :func:`prediction_in_words` compares, for a sentence; empty for one seed."""
    made = _prediction(recipe, runs, early)
    chosen = made[0].held_out(made[1]) if made else []
    if not made or not chosen:
        return ""
    found, line = made
    return SHORT.format(
        picked=_picked(chosen),
        correlation=_correlation(chosen),
        known=_correlation(found.held_out(line, known_before=True)),
        of_arm=_correlation(found.of_the_same_arm(line)),
        within=_within_arms(found, chosen),
    )


def _prediction(
    recipe: Recipe, runs: Iterable[CountedRun], early: pd.DataFrame | None
) -> tuple[Prediction, float] | None:
    """Return what early numbers tell, and the nll that a good run is below; None without any, and before a seed has all
    arms.
    """
    if early is None:
        return None
    results = sweep_results(recipe, runs)
    found = Prediction(results.grid, early, results.finals)
    return None if results.line is None or not found.seeds else (found, results.line)


def _within(found: Prediction, labels: Mapping[str, str]) -> list[str]:
    """Return the table of each placement where there are few, and else that of the mean over all."""
    if len(labels) > FEW:
        return [
            WITHIN.format(placements="one placement, the mean over placements whose runs end differently"),
            _table(found, list(labels)),
        ]
    return [part for name, label in labels.items() for part in (WITHIN.format(placements=label), _table(found, [name]))]


def _table(found: Prediction, placements: Collection[str] = ()) -> str:
    correlations = found.correlations(placements)
    rows = [
        [WORDS.get(number, number), *(_over_seeds(correlations[number, update]) for update in found.updates)]
        for number in found.numbers
    ]
    headers = ["number", *(f"update {update}" for update in found.updates)]
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def _over_seeds(by_seed: Mapping[int, float]) -> str:
    known = [value for value in by_seed.values() if not math.isnan(value)]
    return _in_words(known) if known else "–"


def _in_words(values: Sequence[float]) -> str:
    spread = f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{spread}"


def _tested(found: Prediction, line: float) -> str:
    """Return what was chosen without a seed and how it does there, and what else tells; empty for one seed."""
    chosen, known = found.held_out(line), found.held_out(line, known_before=True)
    if not chosen:
        return ""
    candidates = found.candidates()
    return CHOSEN.format(
        candidates=len(candidates),
        whose=ALL if found.all_have(candidates) else MOST.format(share=LEAST),
        picked=_picked(chosen),
        correlation=_judged(chosen),
        known=f"{_picked(known)}; it has {_judged(known)}",
        of_arm=_judged(found.of_the_same_arm(line)),
        within=_within_arms(found, chosen),
    )


def _within_arms(found: Prediction, chosen: Sequence[HeldOut]) -> str:
    """Return the correlation within arms of each number that was chosen."""
    of_each = found.within_arms(predictor for predictor, _ in most_often(chosen))
    return ", ".join(f"{value:.2f} for the {_named(*predictor)}" for predictor, value in of_each.items())


def _picked(chosen: Sequence[HeldOut]) -> str:
    return ", ".join(
        f"{_named(number, update)} ({count} of {len(chosen)} seeds)" for (number, update), count in most_often(chosen)
    )


def _named(number: str, update: int) -> str:
    return WORDS[number] if number == LR_MAX else f"{WORDS.get(number, number)} at update {update}"


def _judged(chosen: Sequence[Judged]) -> str:
    """Return the correlations in seeds left out, and the share of pairs in order where both kinds of runs are there."""
    shares = [one.in_order for one in chosen if one.in_order is not None]
    pairs = PAIRS.format(percent=100 * statistics.fmean(shares)) if shares else ""
    return f"{_correlation(chosen)}{pairs}"


def _correlation(chosen: Sequence[Judged]) -> str:
    return _in_words([one.correlation for one in chosen])
