"""Read ``recipes/<name>.yaml``."""

import itertools
import re
from pathlib import Path
from typing import Any

import yaml

from lnexp.errors import UserError, near_names
from lnexp.paths import RECIPES_DIR
from lnexp.recipes.recipe import Arm, Claim, Recipe, Setting
from lnexp.recipes.variant import Variant

#: The parser in C, where PyYAML was built with it, reads all recipes in a tenth of the time.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(path.stem for path in RECIPES_DIR.glob("*.yaml"))


def load_recipe(name: str) -> Recipe:
    """Read ``recipes/<name>.yaml``.

    Raises:
        UserError: for an unknown name, or a file that is not a recipe.
    """
    path = RECIPES_DIR / f"{name}.yaml"
    if not path.is_file():
        raise UserError(f"recipe={name}: no such recipe; {near_names(name, recipe_names())}")
    try:
        content = _read(path)
        _refuse_resolvers(content)
        return Recipe(
            name=name,
            settings=tuple(content.pop("settings")),
            profiles={
                profile: Setting(said["data"], tuple(said.get("settings", ())), said.get("n_seeds"))
                for profile, said in content.pop("profiles").items()
            },
            arms=_arms(content),
            claims=tuple(Claim(**claim) for claim in content.pop("claims")),
            exploratory_on=tuple(content.pop("exploratory_on", ())),
            **content,
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        why = " ".join(str(error).split())  # YAML's are of several lines
        raise UserError(f"{path}: not a recipe ({type(error).__name__}: {why})") from error


def _refuse_resolvers(content: Any) -> None:
    """Raise ValueError for ``${name:…}`` anywhere: it could read what is private into published tables."""
    if said := re.search(r"\$\{[^}]*:", str(content)):
        raise ValueError(f"{said[0]}…: a recipe may refer to options, as ${{scale.lr_max.low}}, and to nothing else")


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a file, with what it takes from other recipes by their names."""
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    if "variant" in content:
        variant = Variant(**content.pop("variant"))
        content = {**variant.applied(_read(RECIPES_DIR / f"{variant.of}.yaml")), **content}
    axes = content.get("axes", {})
    for axis, said in axes.items():
        if isinstance(said, str):
            axes[axis] = _read(RECIPES_DIR / f"{said}.yaml")["axes"][axis]
    if "outcomes" in content:
        _check_outcomes(content["outcomes"], axes)
    return content


def _check_outcomes(outcomes: dict[str, str], axes: dict[str, Any]) -> None:
    """Raise ValueError where ``outcomes`` does not name the axes, or the axis ``over`` has one value."""
    if set(outcomes) != {"rows", "columns", "over"} or set(outcomes.values()) != set(axes):
        raise ValueError(f"outcomes: must name each of the axes {', '.join(axes)} as rows, columns or over")
    if len(axes[outcomes["over"]]) < 2:
        raise ValueError(f"outcomes: {outcomes['over']} must have two values at least")


def _arms(content: dict[str, Any]) -> dict[str, Arm]:
    """Return ``arms`` one by one; or those of another recipe, by its name; or all combinations of ``axes``."""
    if "axes" in content:
        return _product(content.pop("axes"), content.pop("rows"))
    arms = content.pop("arms")
    if isinstance(arms, str):
        return load_recipe(arms).arms
    return {name: Arm(name, arm["label"], tuple(arm["overrides"])) for name, arm in arms.items()}


def _product(axes: dict[str, dict[str, Any]], rows: list[str]) -> dict[str, Arm]:
    """Return an arm for every combination of one value of each axis.

    Args:
        axes: by name, the values of each, with their labels and overrides.
        rows: the names of the first axes, which make the rows of the figure.

    Raises:
        ValueError: where ``rows`` are not the first of the axes.
    """
    if list(axes)[: len(rows)] != rows:
        raise ValueError(f"rows: must be the first of the axes, not {rows}")
    arms = {}
    for values in itertools.product(*(axis.items() for axis in axes.values())):
        chosen = dict(zip(axes, values, strict=True))
        name = "_".join(value for value, _ in values)
        arms[name] = Arm(
            name=name,
            label=", ".join(said["label"] for _, said in values),
            overrides=tuple(override for _, said in values for override in said["overrides"]),
            row=", ".join(chosen[axis][1]["label"] for axis in rows),
            values={axis: said["label"] for axis, (_, said) in chosen.items()},
        )
    return arms
