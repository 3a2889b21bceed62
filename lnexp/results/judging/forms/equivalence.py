"""Judge ``same(a, b, within=c)``: two one-sided t tests at 5% each that a - b is between -c and c (Schuirmann 1987)."""

import ast
from typing import Self

from lnexp.errors import UserError
from lnexp.results.judging.forms.base import Calls, Form, Question, Values, shared_seeds
from lnexp.results.judging.forms.expression import Expression
from lnexp.results.judging.judgement import Judgement
from lnexp.results.statistics.intervals import margin_interval, p_not_above

#: Of the two-sided intervals whose either end is a one-sided bound at 5%.
CONFIDENCE = 0.90


class Equivalence(Form):
    """The statement that two quantities are the same, up to a margin ``c``, which may be measured, too.

    For every seed that all arms have there are two margins, ``c - (a - b)`` and ``c + (a - b)``. It is reproduced where
    the one-sided 95% lower bounds of both means are above zero: for a constant ``c``, where the 90% interval of the
    difference lies within ``c``. It is contradicted where the one-sided 95% upper bound of one of them is below zero:
    where the 90% interval lies wholly beyond ``c``, or wholly beyond ``-c``. Otherwise it is inconclusive.

    The p-value of the first is the larger of the two one-sided ones; of the second the smaller one of the opposite
    tests; where neither is decided, the smaller of these two.
    """

    name = "equivalence"

    def __init__(self, a: Expression, b: Expression, within: Expression):
        self._a, self._b, self._within = a, b, within
        self.calls: Calls = a.calls | b.calls | within.calls
        if not a.calls | b.calls:
            raise UserError("measures nothing")
        if not within.calls and within.value({}) <= 0:
            raise UserError("within must be above zero")

    @classmethod
    def read(cls, tree: ast.expr, question: Question) -> Self | None:
        match tree:
            case ast.Call(func=ast.Name(id="same"), args=[a, b], keywords=[ast.keyword(arg="within", value=within)]):
                return cls(Expression(a, question), Expression(b, question), Expression(within, question))
            case ast.Call(func=ast.Name(id="same")):
                raise UserError("write same(a, b, within=c)")
        return None

    def judge(self, values: Values) -> Judgement:
        found_by_seed = self.evidence(values)
        differences = [difference for _, difference, _ in found_by_seed]
        allowed = [within for _, _, within in found_by_seed]
        beyond = [
            [c - d for c, d in zip(allowed, differences, strict=True)],
            [c + d for c, d in zip(allowed, differences, strict=True)],
        ]
        found = [margin_interval(margins, CONFIDENCE) for margins in beyond]
        margins = [margin for margin in found if margin]
        return Judgement(self.name, margin_interval(differences, CONFIDENCE), margins, _p(beyond))

    def evidence(self, values: Values) -> list[tuple[int, float, float]]:
        """Return by seed the difference, and how large it may be."""
        return [
            (seed, self._a.value(of_seed) - self._b.value(of_seed), self._within.value(of_seed))
            for seed, of_seed in shared_seeds(values).items()
        ]


def _p(beyond: list[list[float]]) -> float | None:
    not_above = [p for margins in beyond if (p := p_not_above(margins)) is not None]
    return min(max(not_above), 1 - max(not_above)) if not_above else None
