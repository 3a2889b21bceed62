"""Tell runs that succeed from runs that fail: the one definition that claims and the table of outcomes share.

A run succeeds where its score is more than a stated fraction of the mean score of the recipe's best arm, and it has
not diverged. A recipe states measure and fraction as ``success: {measure: best_bleu, fraction: 0.5}``; without, they
are the best validation score of its task and a half, the line between failing and training
of fig2a-no-warmup-fails-low. ``at_least: 5`` is a score that a run has to exceed besides, for recipes whose best arm
may fail, too.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lnexp.errors import UserError
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.tasks import load_task
from lnexp.tasks.measures import measures_of

FRACTION = 0.5

#: The score of each run that is over, and whether it diverged, by arm.
Scores = dict[str, list[tuple[float, bool]]]


@dataclass(frozen=True)
class Success:
    """What a recipe calls a success.

    Attributes:
        measure: the score of a run; the higher, the better.
        fraction: of the best arm's mean score, which a run has to exceed.
        at_least: a score that it has to exceed, too.
    """

    measure: str
    fraction: float
    at_least: float = 0.0

    def line(self, scores_by_arm: Iterable[Sequence[float]]) -> float:
        """Return the score that a run has to exceed."""
        return max(self.fraction * best_mean(scores_by_arm), self.at_least)


#: What of a success a recipe says in numbers.
NUMBERS = ("fraction", "at_least")


def success_of(recipe: Recipe) -> Success:
    """Return what a recipe whose arms are trained calls a success.

    Raises:
        UserError: for a measure that is no score of its task, where more would not be better, a fraction that is not
            between 0 and 1, or an ``at_least`` below 0.
    """
    name = load_task(recipe.task).score.name
    said: dict[str, Any] = {"measure": f"best_{name}", "fraction": FRACTION, "at_least": 0.0} | recipe.success
    if unknown := said.keys() - {"measure", "fraction", "at_least"}:
        raise UserError(
            f"recipe {recipe.name}: success has measure, fraction and at_least, not {', '.join(sorted(unknown))}"
        )
    if not isinstance(said["measure"], str) or not all(isinstance(said[key], int | float) for key in NUMBERS):
        raise UserError(f"recipe {recipe.name}: success: measure is text, {' and '.join(NUMBERS)} are numbers")
    success = Success(said["measure"], float(said["fraction"]), float(said["at_least"]))
    if not success.measure.endswith(f"_{name}"):
        raise UserError(f"recipe {recipe.name}: success: {success.measure} is no measure of {name}, the task's score")
    if not 0 < success.fraction < 1:
        raise UserError(f"recipe {recipe.name}: success: the fraction must be between 0 and 1")
    if not success.at_least >= 0:
        raise UserError(f"recipe {recipe.name}: success: at_least must not be below 0")
    return success


def scores_by_arm(recipe: Recipe, runs: Iterable[CountedRun]) -> Scores:
    """Return the score of each run that is over, and whether it diverged, by arm."""
    measure = measures_of(load_task(recipe.task))[success_of(recipe).measure]
    by_arm: Scores = {}
    for run in runs:
        score = measure(run) if run.counts else None
        if score is not None:
            by_arm.setdefault(run.job.arm.name, []).append((score, run.diverged))
    return by_arm


def line_of(recipe: Recipe, scores: Scores) -> float:
    """Return the score that a run has to exceed to succeed, given those of all arms."""
    return success_of(recipe).line([score for score, _ in of_arm] for of_arm in scores.values())


def divided_arms(recipe: Recipe, runs: Iterable[CountedRun]) -> set[str]:
    """Return the arms of which some runs succeed and others do not; none of a recipe that trains nothing.

    What their runs measure has two modes. Student's t interval of such a mean says nothing, and can reach beyond what
    is possible, as above 100 BLEU, so pages show the range of the runs instead.
    """
    if recipe.measurement:
        return set()
    scores = scores_by_arm(recipe, runs)
    line = line_of(recipe, scores)
    return {arm for arm, of_arm in scores.items() if len({succeeds(*run, line) for run in of_arm}) > 1}


def best_mean(scores_by_arm: Iterable[Sequence[float]]) -> float:
    """Return the highest mean score of an arm; 0 where no arm has a score."""
    return max((statistics.fmean(scores) for scores in scores_by_arm if scores), default=0.0)


def succeeds(score: float, diverged: bool, line: float) -> bool:
    """Return whether a run succeeds, given the score that it has to exceed."""
    return score > line and not diverged
