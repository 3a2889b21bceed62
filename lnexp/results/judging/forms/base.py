"""Define the interface of a form of ``holds_if``: which measures it asks for, and how it judges their values."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from lnexp.errors import UserError
from lnexp.results.judging.judgement import FormName, Judgement
from lnexp.results.measures.success import Success

Measures = Mapping[str, Callable[[Any], float | None]]
#: Measured values by call and seed.
Values = Mapping[str, Mapping[int, float]]
#: Of each call, by its text: the measure and the arm, or the set of arms.
Calls = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Question:
    """What a ``holds_if`` may ask.

    Attributes:
        measures: by name.
        arms: the names of the recipe's.
        success: what the recipe calls a success; None where its arms are not trained.
        sets: by the name of a measure of several arms, the names of the sets that it can be asked of.
    """

    measures: Measures
    arms: Collection[str]
    success: Success | None = None
    sets: Mapping[str, Collection[str]] = field(default_factory=dict)


class NoValueError(UserError):
    """A quantity of a test has no value with what was measured, as where it divides by a measure that is zero."""


class Form(ABC):
    """A test in one of the forms."""

    name: FormName
    #: What it asks for.
    calls: Calls
    #: Whether it compares arms seed by seed, so that a seed that one of them lacks decides nothing.
    paired = True

    @classmethod
    @abstractmethod
    def read(cls, tree: ast.expr, question: Question) -> Self | None:
        """Return the test that a tree states; None where it is of another form.

        Raises:
            UserError: where it is of this form, and wrong.
        """

    @abstractmethod
    def judge(self, values: Values) -> Judgement:
        """Judge values of all :attr:`calls`. Raises NoValueError."""

    @abstractmethod
    def evidence(self, values: Values) -> list[Any]:
        """Return the numbers that decide, by seed: two tests with the same ones, of the same runs, are one piece of
        evidence.

        Raises NoValueError.
        """

    @property
    def deciding(self) -> Collection[str]:
        """Those calls whose values are the evidence."""
        return self.calls

    def shown(self, values: Values) -> Calls:
        """Return those calls whose values people read beside the verdict."""
        return self.calls


def shared_seeds(values: Values) -> dict[int, dict[str, float]]:
    """Return the values by call of each seed that all calls have, in order of the seeds."""
    seeds = set.intersection(*(set(by_seed) for by_seed in values.values()))
    return {seed: {call: by_seed[seed] for call, by_seed in values.items()} for seed in sorted(seeds)}
