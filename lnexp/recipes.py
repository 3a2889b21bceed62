"""Recipes: the figures of the paper as data. One YAML file each in ``recipes/``."""

from dataclasses import dataclass
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

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
    first_seed: int
    n_seeds: int
    arms: dict[str, Arm]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Job:
    """One run that a recipe asks for."""

    recipe: Recipe
    arm: Arm
    seed: int

    @property
    def overrides(self) -> list[str]:
        """What to say to Hydra for it."""
        where = [f"+recipe={self.recipe.name}", f"+arm={self.arm.name}"]
        return [*self.recipe.settings, *self.arm.overrides, f"seed={self.seed}", *where]


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


def jobs_of(recipe: Recipe, cfg: DictConfig) -> list[Job]:
    """Every arm with every seed: the recipe's own, or those of the config's ``first_seed`` and ``n_seeds``."""
    first = recipe.first_seed if cfg.first_seed is None else cfg.first_seed
    count = recipe.n_seeds if cfg.n_seeds is None else cfg.n_seeds
    seeds = range(first, first + count)
    return [Job(recipe, arm, seed) for seed in seeds for arm in recipe.arms.values()]


def split_recipes(arguments: list[str]) -> tuple[list[Recipe], list[str]]:
    """The recipes that command-line arguments ask for, and the other arguments."""
    recipes, rest = [], []
    for override in OverridesParser.create().parse_overrides(arguments):
        if override.key_or_group == "recipe":
            recipes += [load_recipe(name) for name in _values(override)]
        else:
            rest.append(override.input_line or "")
    return recipes, rest


def _values(override: Override) -> list[str]:
    return list(override.sweep_string_iterator()) if override.is_sweep_override() else [str(override.value())]


def check_overrides(recipes: list[Recipe], rest: list[str]) -> None:
    """Refuse to change what makes an arm the arm it is.

    Raises:
        UserError: for a sweep beside a recipe, or an option that the recipe sets.
    """
    parser = OverridesParser.create()
    for override in parser.parse_overrides(rest):
        key = override.key_or_group
        if override.is_sweep_override():
            raise UserError(f"{override.input_line}: a recipe sweeps its own arms; give {key} one value")
        for recipe in recipes:
            fixed = [job_key for arm in recipe.arms.values() for job_key in _keys(parser, Job(recipe, arm, 0))]
            if key in fixed:
                hint = "; say first_seed=… and n_seeds=…" if key == "seed" else ""
                raise UserError(f"{override.input_line}: recipe {recipe.name} sets {key} itself{hint}")


def _keys(parser: OverridesParser, job: Job) -> list[str]:
    return [override.key_or_group for override in parser.parse_overrides(job.overrides)]
