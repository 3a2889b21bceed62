"""The forms that ``holds_if`` can have, and the choice of one by parsing.

- *Comparison*, ``a < b`` or ``a > b``: :mod:`.comparison`.
- *Equivalence*, ``same(a, b, within=c)``: :mod:`.equivalence`.
- *Success rate*, ``success(arm) < 0.5`` or ``success(arm) > 0.5``: :mod:`.success_rate`.

Text is read as Python's syntax and evaluated here, never by Python.
"""

import ast

from lnexp.errors import UserError
from lnexp.results.judging.forms.base import Form, Question
from lnexp.results.judging.forms.comparison import Comparison
from lnexp.results.judging.forms.equivalence import Equivalence
from lnexp.results.judging.forms.success_rate import SuccessRate

__all__ = ["Comparison", "Equivalence", "Form", "Question", "SuccessRate", "parse"]

#: The most characters of a test; with as many, nesting is no deeper than Python takes.
LONGEST = 400


def parse(text: str, question: Question) -> Form:
    """Return the test that a ``holds_if`` states.

    Args:
        text: as the recipe has it.
        question: what it may ask.

    Raises:
        UserError: for anything that is none of the forms, or asks for what there is not.
    """
    if len(text) > LONGEST:  # Python's parser gives up on deep nesting in several ways
        raise UserError(f"holds_if: {len(text):,} characters are too many for a test")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        for form in (SuccessRate, Equivalence, Comparison):
            if found := form.read(tree, question):
                return found
        raise UserError("must be one comparison with < or >, same(a, b, within=c), or success(arm) > a number")
    except SyntaxError as error:
        raise UserError(f"holds_if: {text}: {error.msg}") from None
    except UserError as error:
        raise UserError(f"holds_if: {text}: {error}") from None
