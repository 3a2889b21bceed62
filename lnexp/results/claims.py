"""Judge claims: each is a comparison of measures of arms, decided over seeds.

``holds_if`` is one comparison (``<`` or ``>``) of two sides; a side is arithmetic (``+ - * /``, a minus before,
``abs``) over numbers and calls ``measure(arm)``, as in ``best_bleu(no_warmup) < 0.5 * best_bleu(warmup)``. It is read
as Python's syntax and evaluated here, never by Python.

For every seed that all arms of a claim have, the *margin* by which the comparison holds is computed; the verdict is
read from the 95% interval of the mean margin:

- ``reproduced``: the whole interval is above zero;
- ``contradicted``: the whole interval is below zero;
- ``inconclusive``: zero is in it, or there is only one seed;
- ``not run``: an arm has no run that is over, or the claim is about the paper's own numbers (its scope is
  ``absolute``) and the runs are not of the paper's model on the paper's whole corpus.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from lnexp.errors import UserError, near_names
from lnexp.recipes.recipe import Claim, Job, Recipe
from lnexp.results.intervals import interval
from lnexp.results.probe_measures import PROBE_MEASURES
from lnexp.results.verdict_file import JudgedClaim, Measured, Verdicts, verdict_of
from lnexp.tasks import load_task
from lnexp.tasks.measures import measures_of as measures_of_task

Measures = Mapping[str, Callable[[Any], float | None]]
#: Measured values by call and seed.
Values = dict[str, dict[int, float]]

_ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Evidence(Protocol):
    """What was measured of one arm with one seed: a run, or a probe."""

    @property
    def job(self) -> Job: ...

    @property
    def counts(self) -> bool: ...

    @property
    def is_the_papers(self) -> bool: ...


class Comparison:
    """A parsed ``holds_if``.

    Args:
        text: as the recipe has it.
        measures: what it can ask, by name.

    Raises:
        UserError: for anything but one comparison of arithmetic over known measures.
    """

    def __init__(self, text: str, measures: Measures):
        self.text = text
        self.measures = measures
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise UserError(f"holds_if: {text}: {error.msg}") from None
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Lt | ast.Gt)):
            raise UserError(f"holds_if: {text}: must be one comparison with < or >")
        small, large = tree.left, tree.comparators[0]
        self._small, self._large = (small, large) if isinstance(tree.ops[0], ast.Lt) else (large, small)
        self.calls: dict[str, tuple[str, str]] = {}
        for side in (self._small, self._large):
            self._check(side)
        if not self.calls:
            raise UserError(f"holds_if: {text}: measures nothing")

    def margin(self, values: dict[str, float]) -> float:
        """Return by how much the comparison holds (negative: fails), given a value for each of :attr:`calls`."""
        return self._evaluate(self._large, values) - self._evaluate(self._small, values)

    def _check(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                pass
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                self._check(left)
                self._check(right)
            case (
                ast.Call(func=ast.Name(id="abs"), args=[inner], keywords=[]) | ast.UnaryOp(op=ast.USub(), operand=inner)
            ):
                self._check(inner)
            case ast.Call(func=ast.Name(id=measure), args=[ast.Name(id=arm)], keywords=[]):
                if measure not in self.measures:
                    near = near_names(measure, self.measures)
                    raise UserError(f"holds_if: {self.text}: no measure {measure}; {near}")
                self.calls[ast.unparse(node)] = (measure, arm)
            case _:
                raise UserError(f"holds_if: {self.text}: cannot read {ast.unparse(node)}")

    def _evaluate(self, node: ast.expr, values: dict[str, float]) -> float:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](self._evaluate(left, values), self._evaluate(right, values))
            case ast.UnaryOp(operand=inner):
                return -self._evaluate(inner, values)
            case ast.Call(func=ast.Name(id="abs"), args=[inner]):
                return abs(self._evaluate(inner, values))
            case _:
                return values[ast.unparse(node)]


def measures_of(recipe: Recipe) -> Measures:
    """Return the measures that a recipe's claims can ask, of runs or of what its probe found."""
    return PROBE_MEASURES if recipe.measurement else measures_of_task(load_task(recipe.task))


def judge_all(
    recipe: Recipe, runs: Sequence[Evidence], scope: str, command: str, malformed: Sequence[str] = ()
) -> Verdicts:
    """Judge all claims of a recipe.

    Args:
        recipe: whose claims they are.
        runs: its runs, or what its probe found.
        scope: what those were trained or probed on, in words.
        command: what a reader would type for the same.
        malformed: the runs that could not be read, and why.
    """
    claims = [judge(claim, recipe, runs, command) for claim in recipe.claims]
    return Verdicts(recipe.name, recipe.figure, recipe.title, scope, recipe.settings_hash, list(malformed), claims)


def judge(claim: Claim, recipe: Recipe, runs: Sequence[Evidence], command: str = "") -> JudgedClaim:
    """Judge one claim on runs of its recipe, or on what its probe found; runs that are not over do not count.

    Raises:
        UserError: for a ``holds_if`` that cannot be read or names an arm that the recipe lacks.
    """
    comparison = Comparison(claim.holds_if, measures_of(recipe))
    for _, arm in comparison.calls.values():
        if arm not in recipe.arms:
            raise UserError(f"claim {claim.id}: no arm {arm}; {near_names(arm, recipe.arms)}")
    judged = runs if claim.scope == "relative" else [run for run in runs if run.is_the_papers]
    values = _measure(comparison, judged)
    margin = interval(_margins(comparison, values))
    return JudgedClaim(
        **asdict(claim), verdict=verdict_of(margin), margin=margin, arms=_arms(comparison, values), command=command
    )


def _measure(comparison: Comparison, runs: Sequence[Evidence]) -> Values:
    values: Values = {}
    for call, (measure, arm) in comparison.calls.items():
        of_arm = [run for run in runs if run.job.arm.name == arm and run.counts]
        measured = {run.job.seed: comparison.measures[measure](run) for run in of_arm}
        values[call] = {seed: value for seed, value in measured.items() if value is not None}
    return values


def _margins(comparison: Comparison, values: Values) -> list[float]:
    """Return one margin for each seed that every arm has."""
    shared = set.intersection(*(set(by_seed) for by_seed in values.values()))
    return [comparison.margin({call: by_seed[seed] for call, by_seed in values.items()}) for seed in sorted(shared)]


def _arms(comparison: Comparison, values: Values) -> dict[str, Measured]:
    asked = [arm for _, arm in comparison.calls.values()]
    arms = {}
    for call, (measure, arm) in comparison.calls.items():
        found = interval(list(values[call].values()))
        numbers = asdict(found) if found else {"mean": None, "low": None, "high": None, "n": 0}
        arms[arm if asked.count(arm) == 1 else call] = Measured(measure, **numbers)
    return arms
