"""Lay out the arms of a recipe by placement, rate and length of warm-up, and name those that differ in one of these."""

import itertools
from collections.abc import Collection

from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.recipes.sweep_settings import SweepSettings

#: What the three axes of a sweep are, by what ``outcomes`` calls them.
PLACEMENT, RATE, WARMUP = PARTS = ("rows", "columns", "over")
#: The option that an axis sets.
OPTIONS = {RATE: "lr_max", WARMUP: "warmup_updates"}


class Grid:
    """The arms of a recipe with a sweep.

    Arms that differ in the rate, in the warm-up or in both are a set. Its name is theirs without what they differ in:
    ``pre_ln_none`` are ``pre_ln_none_x1``, ``pre_ln_none_x2`` and so on.

    Args:
        recipe: one with a ``sweep``.

    Attributes:
        sweep: the recipe's.
        labels: of placements, by their name.
        rates: peak learning rates by their name, ascending.
        warmups: updates by the name of a length of warm-up, ascending.
        warmup_labels: of lengths of warm-up, by their name.

    Raises:
        ValueError: where the recipe has no rates that ascend by one factor, or no lengths of warm-up that ascend, and
            where an arm has another rate or length than its place says.
    """

    def __init__(self, recipe: Recipe):
        if recipe.sweep is None or not recipe.outcomes:
            raise ValueError("sweep: needs outcomes, whose columns are rates, and lengths of warm-up over them")
        self.sweep: SweepSettings = recipe.sweep
        self._axes = recipe.outcomes
        self._arms = list(recipe.arms.values())
        self.labels = self._labels(PLACEMENT)
        self.warmup_labels = self._labels(WARMUP)
        self.rates, self.warmups = self._numbers(RATE), self._numbers(WARMUP)
        self._check()
        self._places = {arm.name: self._place(arm) for arm in self._arms}
        self._names = {tuple(place[part] for part in PARTS): name for name, place in self._places.items()}
        self._sets: dict[frozenset[str], dict[str, list[str]]] = {}  # asked for many times over

    def place_of(self, name: str) -> dict[str, str]:
        """Return the names of the placement, rate and warm-up of an arm of this name."""
        return self._places[name]

    def arm(self, placement: str, rate: str, warmup: str) -> str:
        """Return the name of an arm."""
        return self._names[placement, rate, warmup]

    @property
    def names(self) -> list[str]:
        """The names of all arms."""
        return list(self._places)

    def by_arm(self, part: str) -> dict[str, float]:
        """Return the rates of all arms, or their lengths of warm-up in updates."""
        numbers = self.rates if part == RATE else self.warmups
        return {name: numbers[place[part]] for name, place in self._places.items()}

    def sets_without(self, parts: Collection[str]) -> dict[str, list[str]]:
        """Return the names of the arms that differ in these axes alone, by the name of their set."""
        key = frozenset(self._axes[part] for part in parts)
        if key not in self._sets:
            self._sets[key] = self._sets_differing_in(key)
        return self._sets[key]

    def _sets_differing_in(self, axes: Collection[str]) -> dict[str, list[str]]:
        sets: dict[str, list[str]] = {}
        for arm in self._arms:
            name = "_".join(key for axis, key in arm.keys.items() if axis not in axes)
            sets.setdefault(name, []).append(arm.name)
        return sets

    def set_name(self, **keys: str) -> str:
        """Return the name of the set that has these names of ``rows``, ``columns`` or ``over``."""
        named = {self._axes[part]: key for part, key in keys.items()}
        return "_".join(named[axis] for axis in self._arms[0].keys if axis in named)

    def _place(self, arm: Arm) -> dict[str, str]:
        """Return the names of an arm's placement, rate and warm-up."""
        return {part: arm.keys[self._axes[part]] for part in PARTS}

    def _labels(self, part: str) -> dict[str, str]:
        axis = self._axes[part]
        return {arm.keys[axis]: arm.values[axis] for arm in self._arms}

    def _numbers(self, part: str) -> dict[str, float]:
        """Return what the names of an axis set its option to."""
        by_key = {arm.keys[self._axes[part]]: arm for arm in reversed(self._arms)}  # the first arm of each
        return {key: _number(arm, OPTIONS[part]) for key, arm in reversed(by_key.items())}

    def _check(self) -> None:
        for part, numbers in ((RATE, self.rates), (WARMUP, self.warmups)):
            for arm in self._arms:
                number, of_key = _number(arm, OPTIONS[part]), numbers[arm.keys[self._axes[part]]]
                if number != of_key:
                    raise ValueError(f"sweep: {arm.name}: its {OPTIONS[part]} is {number:g}, of its axis {of_key:g}")
            values = list(numbers.values())
            if len(values) < 2 or sorted(set(values)) != values:
                raise ValueError(f"sweep: {self._axes[part]} needs two values of {OPTIONS[part]} at least, ascending")
        values = list(self.rates.values())
        factors = [later / earlier for earlier, later in itertools.pairwise(values)]
        if max(factors) - min(factors) > 1e-6 * max(factors):
            raise ValueError(f"sweep: the rates of {self._axes[RATE]} must be one factor apart")
        if unknown := set(self.sweep.other_rate) - self.labels.keys():
            raise ValueError(f"sweep: other_rate: {', '.join(sorted(unknown))}: not of {self._axes[PLACEMENT]}")


def _number(arm: Arm, option: str) -> float:
    said = [override.partition("=")[2] for override in arm.overrides if key_of(override) == option]
    try:
        return float(said[-1])
    except (IndexError, ValueError):
        raise ValueError(f"sweep: {arm.name}: {option} must be a number") from None


def grid_of(recipe: Recipe) -> Grid:
    """Return the grid of a recipe. Raises UserError for one without a sweep."""
    try:
        return Grid(recipe)
    except ValueError as error:
        raise UserError(f"recipe {recipe.name}: {error}") from None
