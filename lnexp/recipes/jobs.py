"""Name the runs that a recipe asks for: an arm and a seed each."""

from dataclasses import dataclass
from itertools import chain

from omegaconf import DictConfig, OmegaConf

from lnexp.options.common import SECTIONS
from lnexp.plain import plain
from lnexp.recipes.recipe import Arm, Recipe

#: Which values the options take that choose a recipe's runs.
CHOOSING = {row.name: row.kind for row in chain(*SECTIONS.values()) if row.name in ("arms", "first_seed", "n_seeds")}
#: The one profile of recipes that train nothing.
THEORY = "theory"
#: The corpus' name where inputs are drawn from a Gaussian instead.
NO_CORPUS = "gaussian"


@dataclass(frozen=True)
class Job:
    """One run that a recipe asks for, at one profile."""

    recipe: Recipe
    profile: str
    arm: Arm
    seed: int

    @property
    def settings(self) -> list[str]:
        """The overrides that decide its numbers."""
        shared = [*self.recipe.settings, *self.recipe.profiles[self.profile].overrides]
        return [*self.recipe.choice_of_task, *shared, *self.arm.overrides, f"seed={self.seed}"]

    @property
    def overrides(self) -> list[str]:
        """The overrides that Hydra makes its config of."""
        return [*self.settings, f"+recipe={self.recipe.name}", f"+arm={self.arm.name}"]


def jobs_of(recipe: Recipe, cfg: DictConfig) -> list[Job]:
    """Return a job for every arm and seed.

    Args:
        recipe: whose arms and seeds they are.
        cfg: a config, whose ``arms``, ``first_seed`` and ``n_seeds`` take the place of the recipe's.

    Raises:
        UserError: where one of these cannot be meant, or ``arms`` has a pattern that matches no arm.
    """
    asked = plain(OmegaConf.masked_copy(cfg, list(CHOOSING)))
    for name, kind in CHOOSING.items():
        kind.check(name, asked[name])
    profile = THEORY if recipe.measurement else cfg.profile
    planned = recipe.planned_at(profile)
    first = planned.start if cfg.first_seed is None else cfg.first_seed
    count = len(planned) if cfg.n_seeds is None else cfg.n_seeds
    seeds = range(first, first + count)
    arms = recipe.arms_like(_patterns(cfg))
    return [Job(recipe, profile, arm, seed) for seed in seeds for arm in arms]


def _patterns(cfg: DictConfig) -> list[str]:
    """Return which arms a config asks for; everything where it does not say."""
    said = ["*"] if cfg.arms is None else cfg.arms
    return [said] if isinstance(said, str) else list(said)
