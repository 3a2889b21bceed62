"""Read and evaluate arithmetic over measures of arms: a side of a comparison, an argument of ``same``.

It has ``+ - * /``, a minus before, numbers, calls ``measure(arm)``, and ``logit(measure(arm))`` of a score in percent.
Measures of several arms, see :mod:`lnexp.results.measures.sweep_measures`, take the name of a set of arms.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping

from lnexp.errors import UserError, near_names
from lnexp.results.judging.forms.base import NoValueError, Question

_ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

#: Between what ``logit`` clips a score in percent: at 0 and 100 it would be infinite. A test of some hundred
#: sentences does not tell 99.95 from 100.
LOGIT_RANGE = (0.05, 99.95)


#: No number of a test is as large.
LARGEST = 1e100


def logit(percent: float) -> float:
    """Return ``log(b / (100 - b))`` of a score in percent, which is clipped to :data:`LOGIT_RANGE`.

    Equal differences of it are equal ratios of odds: near 0 and 100, where differences of BLEU shrink, it keeps arms
    apart and their spread over seeds alike.
    """
    low, high = LOGIT_RANGE
    clipped = min(max(percent, low), high)
    return math.log(clipped / (100 - clipped))


class Expression:
    """Arithmetic over measures.

    Args:
        node: its tree.
        question: what it may ask.

    Attributes:
        calls: what it asks for.

    Raises:
        UserError: for anything else, or an unknown measure or arm.
    """

    def __init__(self, node: ast.expr, question: Question):
        self.calls: dict[str, tuple[str, str]] = {}
        self._node, self._question = node, question
        self._check(node)

    def value(self, values: Mapping[str, float]) -> float:
        """Return its value, given one for each of :attr:`calls`.

        Raises:
            NoValueError: where it divides by zero, or is not finite.
        """
        try:
            value = self._evaluate(self._node, values)
        except ZeroDivisionError:
            value = math.inf
        if not math.isfinite(value):
            raise NoValueError(f"{ast.unparse(self._node)}: a divisor is zero; multiply the other side instead")
        return value

    def _check(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and abs(value) < LARGEST:
                pass
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                self._check(left)
                self._check(right)
                if type(op) is ast.Div and _is_constant(right) and not self._evaluate(right, {}):
                    raise UserError(f"{ast.unparse(node)}: divides by zero")
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                self._check(inner)
            case ast.Call(func=ast.Name(id="abs")):
                raise UserError("abs of a noisy difference is too large; write same(a, b, within=c)")
            case ast.Call(func=ast.Name(id="logit"), args=[ast.Call() as inner], keywords=[]):
                self._check(inner)
            case ast.Call(func=ast.Name(id=measure), args=[ast.Name(id=arm)], keywords=[]):
                self._check_call(measure, arm)
                self.calls[ast.unparse(node)] = (measure, arm)
            case _:
                raise UserError(f"cannot read {ast.unparse(node)}")

    def _check_call(self, measure: str, arm: str) -> None:
        if measure in self._question.sets:
            if arm not in self._question.sets[measure]:
                near = near_names(arm, self._question.sets[measure])
                raise UserError(f"{measure}: no set of arms {arm}, which are named without what they differ in; {near}")
            return
        if measure not in self._question.measures:
            known = [*self._question.measures, *self._question.sets]
            raise UserError(f"no measure {measure}; {near_names(measure, known)}")
        if arm not in self._question.arms:
            raise UserError(f"no arm {arm}; {near_names(arm, self._question.arms)}")

    def _evaluate(self, node: ast.expr, values: Mapping[str, float]) -> float:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](self._evaluate(left, values), self._evaluate(right, values))
            case ast.UnaryOp(operand=inner):
                return -self._evaluate(inner, values)
            case ast.Call(func=ast.Name(id="logit"), args=[inner]):
                return logit(self._evaluate(inner, values))
            case _:
                return values[ast.unparse(node)]


def _is_constant(node: ast.expr) -> bool:
    """Return whether an expression asks for no measure."""
    return not any(isinstance(part, ast.Call) for part in ast.walk(node))
