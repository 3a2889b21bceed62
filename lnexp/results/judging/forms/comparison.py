"""Judge ``a < b`` or ``a > b``: Student's t over seeds on the margin by which it holds, 95%, two-sided."""

import ast
from typing import Self

from lnexp.errors import UserError
from lnexp.results.judging.forms.base import Calls, Form, Question, Values, shared_seeds
from lnexp.results.judging.forms.expression import Expression
from lnexp.results.judging.judgement import Judgement
from lnexp.results.statistics.intervals import margin_interval, p_not_above
from lnexp.results.statistics.sign_flips import p_of_sign_flips


class Comparison(Form):
    """A comparison of two sides.

    For every seed that all its arms have, the margin is by how much the comparison holds. It is reproduced where the
    95% interval of the mean margin is above zero, contradicted where it is below. The p-value is two-sided. Where all
    seeds have one margin, a sign test decides.
    """

    name = "comparison"

    def __init__(self, small: Expression, large: Expression):
        self._small, self._large = small, large
        self.calls: Calls = small.calls | large.calls
        if not self.calls:
            raise UserError("measures nothing")

    @classmethod
    def read(cls, tree: ast.expr, question: Question) -> Self | None:
        match tree:
            case ast.Compare(left=small, ops=[ast.Lt()], comparators=[large]):
                pass
            case ast.Compare(left=large, ops=[ast.Gt()], comparators=[small]):
                pass
            case _:
                return None
        return cls(Expression(small, question), Expression(large, question))

    def margin(self, values: dict[str, float]) -> float:
        """Return by how much the comparison holds (negative: fails), given a value for each of :attr:`calls`."""
        return self._large.value(values) - self._small.value(values)

    def judge(self, values: Values) -> Judgement:
        margins = [margin for _, margin in self.evidence(values)]
        mean, not_above = margin_interval(margins), p_not_above(margins)
        p = None if not_above is None else 2 * min(not_above, 1 - not_above)
        return Judgement(self.name, mean, [mean] if mean else [], p, p_of_sign_flips(margins))

    def evidence(self, values: Values) -> list[tuple[int, float]]:
        return [(seed, self.margin(of_seed)) for seed, of_seed in shared_seeds(values).items()]
