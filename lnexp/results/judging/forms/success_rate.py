"""Judge ``success(arm) < 0.5`` or ``success(arm) > 0.5``: the share of runs that succeed against a number.

Outcomes of training have two modes, for which an interval of the mean is no use; their share has an exact interval.
"""

import ast
from collections.abc import Collection
from typing import Any, Self

from lnexp.errors import UserError, near_names
from lnexp.results.judging.forms.base import Calls, Form, Question, Values
from lnexp.results.judging.judgement import Judgement
from lnexp.results.measures.success import succeeds
from lnexp.results.statistics.intervals import Interval, p_of_share, share


class SuccessRate(Form):
    """The statement that the success rate of an arm is above or below a number.

    A run succeeds as the recipe says, see :mod:`lnexp.results.measures.success`. It is reproduced where Clopper and
    Pearson's 95% interval lies on the stated side of the number, contradicted where it lies on the other; not run until
    every arm of the recipe has a run that is over, since any of them can be the best. The p-value is two-sided: twice
    the smaller binomial tail.
    """

    name = "success rate"
    paired = False

    def __init__(self, arm: str, above: bool, rate: float, question: Question):
        if question.success is None:
            raise UserError("success is for arms that are trained")
        if arm not in question.arms:
            raise UserError(f"no arm {arm}; {near_names(arm, question.arms)}")
        if question.success.measure not in question.measures:
            raise UserError(f"success: no measure {question.success.measure}")
        if not 0 < rate < 1:
            raise UserError("a success rate is compared with a number between 0 and 1")
        self._arm, self._above, self._rate, self._success = arm, above, rate, question.success
        self._scores = {name: f"{self._success.measure}({name})" for name in question.arms}
        self._diverged = f"diverged({arm})"
        self.calls: Calls = {call: (self._success.measure, name) for name, call in self._scores.items()} | {
            self._diverged: ("diverged", arm)
        }

    @classmethod
    def read(cls, tree: ast.expr, question: Question) -> Self | None:
        match tree:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="success"), args=[ast.Name(id=arm)], keywords=[]),
                ops=[ast.Lt() | ast.Gt() as op],
                comparators=[ast.Constant(value=int() | float() as rate)],
            ) if not isinstance(rate, bool):
                return cls(arm, isinstance(op, ast.Gt), rate, question)
        if any(isinstance(node, ast.Name) and node.id == "success" for node in ast.walk(tree)):
            raise UserError("write success(arm) < a number, or success(arm) > a number")
        return None

    def judge(self, values: Values) -> Judgement:
        if not all(values[call] for call in self._scores.values()):
            return Judgement(self.name, None, [], None)
        line = self._success.line(list(values[call].values()) for call in self._scores.values())
        mine, diverged = values[self._scores[self._arm]], values[self._diverged]
        successes = sum(succeeds(score, bool(diverged[seed]), line) for seed, score in mine.items())
        found = share(successes, len(mine))
        assert found is not None
        p = p_of_share(successes, len(mine), self._rate)
        return Judgement(self.name, found, [self._margin(found)], p)

    @property
    def deciding(self) -> Collection[str]:
        """The arm's score: the best arm, which decides the line, differs between recipes that share the arm."""
        return [self._scores[self._arm]]

    def evidence(self, values: Values) -> list[Any]:
        return [self._above, self._rate, sorted(values[self._scores[self._arm]].items())]

    def _margin(self, found: Interval) -> Interval:
        """Return by how much the share is on the stated side of the number."""
        low, high = (end - self._rate for end in (found.low, found.high) if end is not None)
        mean = found.mean - self._rate
        return Interval(mean, low, high, found.n) if self._above else Interval(-mean, -high, -low, found.n)

    def shown(self, values: Values) -> Calls:
        """Return the scores of the arm and of the best arm."""
        known = [name for name in self._scores if values[self._scores[name]]]
        means = {name: sum(of.values()) / len(of) for name in known if (of := values[self._scores[name]])}
        names = [self._arm, *sorted(means, key=means.__getitem__)[-1:]]
        return {self._scores[name]: (self._success.measure, name) for name in dict.fromkeys(names)}
