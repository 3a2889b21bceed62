"""Read the tests of two arms of a recipe from their run folders, sentence by sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lnexp.errors import UserError
from lnexp.numerics import NUMERICS
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs.folder import RunFolder
from lnexp.tasks import measures
from lnexp.tasks.contract import SentenceStatistics

#: A score that is computed again may differ so much from the recorded one, which is rounded.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class SentenceTests:
    """The tests of the seeds that two arms share.

    Attributes:
        runs: of the first arm and of the second, by seed.
        seeds: in order.
        counts: ``(2, seeds, sentences, k)``, see :class:`lnexp.tasks.contract.SentenceStatistics`.
        score: returns the score of ``(k,)`` summed counts.
    """

    runs: list[list[RunResult]]
    seeds: list[int]
    counts: np.ndarray
    score: Callable[[np.ndarray], float]


#: What the command calls the two arms.
ARGUMENTS = ("arm_a", "arm_b")


def read_sentence_tests(
    recipe: Recipe, arms: Sequence[str], overrides: list[str], numerics: int = NUMERICS
) -> SentenceTests:
    """Return the tests of two arms, of the seeds that are over in both.

    Args:
        recipe: what was trained.
        arms: the names of the two arms.
        overrides: the command-line overrides that the runs were launched with.
        numerics: see :func:`.collect.collect`.

    Raises:
        UserError: for an unknown arm, fewer than two seeds, a malformed run, or tests on different sentences.
    """
    compared = {arm: recipe.arm_named(arm, option) for option, arm in zip(ARGUMENTS, arms, strict=True)}
    runs = collect(recipe.with_arms(compared), overrides, numerics)
    over = [_over(runs, arm) for arm in arms]
    seeds = sorted(over[0].keys() & over[1].keys())
    if len(seeds) < 2:
        known = ", ".join(map(str, seeds)) or "none"
        raise UserError(f"{' and '.join(arms)}: seeds whose runs are over in both: {known}; two are needed at least")
    chosen = [[of_arm[seed] for seed in seeds] for of_arm in over]
    _check_test_set([run for of_arm in chosen for run in of_arm])
    read = [[_statistics(run) for run in of_arm] for of_arm in chosen]
    counts = np.array([[one.counts for one in of_arm] for of_arm in read])
    return SentenceTests(chosen, seeds, counts, read[0][0].score)


def _over(runs: Sequence[RunResult], arm: str) -> dict[int, RunResult]:
    """Return the runs of an arm that are over, by seed. Raises UserError where one is malformed, or none is over."""
    of_arm = [run for run in runs if run.job.arm.name == arm]
    for run in of_arm:
        if run.problem:
            raise UserError(run.problem)
    if over := {run.job.seed: run for run in of_arm if run.counts}:
        return over
    states = ", ".join(f"{run.job.seed} {run.state}" for run in of_arm)
    raise UserError(f"{arm}: no run is over in {runs[0].cfg.runs_dir} (seeds: {states})")


def _check_test_set(runs: Sequence[RunResult]) -> None:
    """Raise UserError where runs were tested on different text."""
    seen = [_test_set(run) for run in runs]
    for run, test_set in zip(runs, seen, strict=True):
        if test_set != seen[0]:
            raise UserError(f"{runs[0].identity} and {run.identity}: were tested on different text; train one again")


def _test_set(run: RunResult) -> dict[str, str]:
    """Return the SHA-256 of each file of the test set."""
    digests = run.environment["data"].get("sha256") or {}
    return {name: digest for name, digest in digests.items() if name.startswith("test.")}


def _statistics(run: RunResult) -> SentenceStatistics:
    """Return a run's statistics. Raises UserError where there are none, or they do not give the recorded score."""
    assert run.path is not None, "a run that is over has a folder"
    folder = RunFolder(run.path)
    found = run.task.sentence_statistics(run, folder)
    if found is None:
        raise UserError(f"recipe={run.job.recipe.name}: its task {run.task.name} keeps no statistics of test sentences")
    score, recorded = found.score(found.counts.sum(axis=0)), measures.test(run, run.task.score)
    if recorded is None or abs(score - recorded) > TOLERANCE:
        name = run.task.score.title
        raise UserError(f"{folder.path}: its test gives {name} {score:.4f}, recorded is {recorded}; train it again")
    return found
