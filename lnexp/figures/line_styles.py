"""Choose the colours and dashes of lines: a label has the same ones in every figure and on every page."""

from collections.abc import Sequence
from functools import cache
from itertools import count

from lnexp.figures.panels import LineStyle
from lnexp.recipes.load import load_recipe, recipe_names

#: Okabe and Ito's palette, for colour-blind readers, too; with grey for its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A")
DASHES = ("-", "--", "-.", ":")


def styles_of(labels: Sequence[str]) -> dict[str, LineStyle]:
    """Return the styles of labels that are drawn together; no two are alike."""
    numbers = {label: _numbers()[label] for label in labels if label in _numbers()}
    for label in labels:
        numbers.setdefault(label, _first_free(numbers.values()))
    return {label: _style(number) for label, number in numbers.items()}


@cache
def _numbers() -> dict[str, int]:
    """Return a number for every label of every recipe; labels that are drawn together anywhere have different ones."""
    together: dict[str, dict[str, None]] = {}
    for name in recipe_names():
        for arms in load_recipe(name).rows.values():
            labels = [arm.label_in_row for arm in arms]
            for label in labels:
                together.setdefault(label, {}).update(dict.fromkeys(labels))
    numbers: dict[str, int] = {}
    for label, others in together.items():
        numbers[label] = _first_free([numbers[other] for other in others if other in numbers])
    return numbers


def _first_free(taken) -> int:
    return next(number for number in count() if number not in set(taken))


def _style(number: int) -> LineStyle:
    dash = number + number // len(COLOURS)  # the same colour comes again with another dash
    return LineStyle(COLOURS[number % len(COLOURS)], DASHES[dash % len(DASHES)])
