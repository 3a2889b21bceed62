"""Show which early number of a sweep's runs tells how they end, in tables and a sentence."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.grid import grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.measures.prediction import LR_MAX, HeldOut, Prediction, most_often
from lnexp.results.measures.sweep_measures import CountedRun, SweepResults, finals_of

#: What people read of a number.
WORDS = {
    LR_MAX: "lr_max, known before",
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
Which early number tells how a run ends: Spearman's rank correlation of it with the final nll, over the {runs} runs of \
a seed; 1 says that the greater it is, the worse a run ends. Loss and gradient norm are means over the second half of \
the updates up to the one named, the others are of that update. Mean over seeds, and the least and the greatest of \
them."""
WITHIN = """\
The same over the runs of one placement, the mean over placements, which tells rates and lengths of warm-up apart:"""
CHOSEN = """\
Chosen by all seeds but one as the number of the greatest correlation in size: {picked}. In the seed that was left out \
its correlation is {correlation}{pairs}. The mean of the same arm in the other seeds has {of_arm}."""
PAIRS = ", and of a good run and one that is not it says which is which in {share:.0%} of pairs"


def prediction_page(recipe: Recipe, runs: Iterable[CountedRun], early: pd.DataFrame) -> str:
    """Return the tables of a recipe with a sweep, in Markdown; empty before all arms have a run.

    Args:
        recipe: whose sweep it is.
        runs: its runs.
        early: their ``early.csv``, not empty.
    """
    grid = grid_of(recipe)
    results = SweepResults(grid, finals_of(grid, runs))
    if results.line is None:
        return ""
    found = Prediction(grid, early, results.finals)
    parts = [
        EXPLANATION.format(runs=len(grid.names)),
        _table(found, within=False),
        WITHIN,
        _table(found, within=True),
        *_held_out(found, results.line),
    ]
    return "\n\n".join(parts)


def _table(found: Prediction, within: bool) -> str:
    correlations = found.correlations(within)
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


def _held_out(found: Prediction, line: float) -> list[str]:
    """Return what was chosen without a seed and how it does there, and what the arm alone tells; none for one seed."""
    chosen, of_arm = found.held_out(line), found.of_the_same_arm()
    if not chosen:
        return []
    picked = ", ".join(
        f"{WORDS.get(number, number)} at update {update} ({count} of {len(chosen)} seeds)"
        for (number, update), count in most_often(chosen)
    )
    correlation, of_same_arm = _in_words([one.correlation for one in chosen]), _in_words(list(of_arm.values()))
    return [CHOSEN.format(picked=picked, correlation=correlation, pairs=_pairs(chosen), of_arm=of_same_arm)]


def _pairs(chosen: Sequence[HeldOut]) -> str:
    shares = [one.in_order for one in chosen if one.in_order is not None]
    return PAIRS.format(share=statistics.fmean(shares)) if shares else ""
