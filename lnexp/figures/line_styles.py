"""Colours and styles of lines: one label has one look in every figure and on every page."""

from collections.abc import Sequence
from functools import cache
from itertools import count

from lnexp.figures.panels import Look
from lnexp.recipes.load import load_recipe, recipe_names

#: Okabe and Ito's palette, told apart by the colour-blind, too; grey for its yellow, which white paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A")
DASHES = ("-", "--", "-.", ":")


def looks_of(labels: Sequence[str]) -> dict[str, Look]:
    """The looks of labels that are drawn together; no two are alike."""
    numbers = {label: _numbers()[label] for label in labels if label in _numbers()}
    for label in labels:
        numbers.setdefault(label, _first_free(numbers.values()))
    return {label: _look(number) for label, number in numbers.items()}


@cache
def _numbers() -> dict[str, int]:
    """A number for every label of every recipe: labels that are ever drawn together have different ones."""
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


def _look(number: int) -> Look:
    style = number + number // len(COLOURS)  # another one, where colours come again
    return Look(COLOURS[number % len(COLOURS)], DASHES[style % len(DASHES)])
