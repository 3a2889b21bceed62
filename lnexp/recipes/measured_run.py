"""Find the recipe and the arm whose trained runs a measurement is of."""

from collections.abc import Mapping
from typing import Any

from lnexp.errors import UserError
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Arm, Recipe


def measured_arm(run: Mapping[str, Any]) -> tuple[Recipe, Arm]:
    """Return the recipe and the arm that the settings ``run.…`` of a measurement name.

    Args:
        run: ``recipe``; and ``arm``, its name, or its value on each of the recipe's axes, as ``{warmup: none, …}``.

    Raises:
        UserError: where one is missing, or there is no such recipe, axis or arm.
    """
    for missing in ("recipe", "arm"):
        if missing not in run:
            raise UserError(f"run.{missing}: not set")
    recipe = load_recipe(str(run["recipe"]))
    arm = run["arm"]
    name = _joined(recipe, arm) if isinstance(arm, Mapping) else str(arm)
    return recipe, recipe.arm_named(name, "run.arm")


def _joined(recipe: Recipe, values: Mapping[str, Any]) -> str:
    """Return the name of the arm that has these values on the recipe's axes."""
    axes = list(next(iter(recipe.arms.values())).values)
    if values.keys() != set(axes):
        there = ", ".join(axes) or "none"
        raise UserError(f"run.arm: the axes of recipe {recipe.name} are {there}, not {', '.join(map(str, values))}")
    return "_".join(str(values[axis]) for axis in axes)
