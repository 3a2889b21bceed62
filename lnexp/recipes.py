"""Recipes: the figures of the paper as data. One YAML file each in ``recipes/``."""

from dataclasses import dataclass
from typing import Any

import yaml

from lnexp.configuration import ROOT
from lnexp.errors import UserError, near_names

RECIPES_DIR = ROOT / "recipes"


@dataclass(frozen=True)
class Arm:
    """One line of a figure: a label for people, and what sets it apart."""

    name: str
    label: str
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and the test of it, fixed before any run.

    Attributes:
        id: a name for it.
        source: where the paper says it, in its words.
        paper: the paper's numbers by arm; empty where it gives none.
        holds_if: a comparison of measured quantities, see :mod:`lnexp.results.claims`.
        why: why this test and this threshold.
    """

    id: str
    source: str
    paper: dict[str, Any]
    holds_if: str
    why: str


@dataclass(frozen=True)
class Recipe:
    """One figure: arms to train and claims to judge."""

    name: str
    title: str
    figure: str
    source: str
    reading: str
    settings: tuple[str, ...]
    arms: dict[str, Arm]
    claims: tuple[Claim, ...]

    def jobs(self, seeds: list[int]) -> list["Job"]:
        """Every arm with every seed."""
        return [Job(self, arm, seed) for seed in seeds for arm in self.arms.values()]


@dataclass(frozen=True)
class Job:
    """One run that a recipe asks for."""

    recipe: Recipe
    arm: Arm
    seed: int

    @property
    def overrides(self) -> list[str]:
        """What to say to Hydra for it."""
        own = [*self.recipe.settings, *self.arm.overrides, f"seed={self.seed}"]
        return [*own, f"+recipe={self.recipe.name}", f"+arm={self.arm.name}"]


def recipe_names() -> list[str]:
    """All recipes there are."""
    return sorted(path.stem for path in RECIPES_DIR.glob("*.yaml"))


def load_recipe(name: str) -> Recipe:
    """Read ``recipes/<name>.yaml``.

    Raises:
        UserError: for an unknown name, or a file that is no recipe.
    """
    path = RECIPES_DIR / f"{name}.yaml"
    if not path.is_file():
        raise UserError(f"recipe={name}: no such recipe; {near_names(name, recipe_names())}")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        arms = content.pop("arms")
        claims = content.pop("claims")
        settings = tuple(content.pop("settings"))
        return Recipe(
            name=name,
            settings=settings,
            arms={key: Arm(key, arm["label"], tuple(arm["overrides"])) for key, arm in arms.items()},
            claims=tuple(Claim(**claim) for claim in claims),
            **content,
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not a recipe ({type(error).__name__}: {error})") from error


def seeds(first_seed: int, n_seeds: int) -> list[int]:
    """The seeds of a recipe's runs."""
    return list(range(first_seed, first_seed + n_seeds))
