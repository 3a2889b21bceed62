"""Hold a recipe: its arms, its claims, and the runs that it asks for."""

from dataclasses import dataclass, field
from typing import Any, Literal

from omegaconf import DictConfig

from lnexp.hashing import short_hash
from lnexp.tasks import DEFAULT

#: Where a claim is judged: ``relative`` ones on every corpus, in a form that compares our arms with each other;
#: ``absolute`` ones, which take the paper's own numbers, only with the paper's model on the paper's whole corpus.
Scope = Literal["relative", "absolute"]


@dataclass(frozen=True)
class Arm:
    """One line of a figure.

    Attributes:
        name: what claims and tables call it.
        label: what people read.
        overrides: what sets it apart.
        row: the row of the figure that it is drawn in; figures of few arms have one row, without a name.
        values: of a recipe with axes, the label of its value of each axis.
    """

    name: str
    label: str
    overrides: tuple[str, ...]
    row: str = ""
    values: dict[str, str] = field(default_factory=dict)

    @property
    def label_in_row(self) -> str:
        """What tells it from the others of its row."""
        return self.label.removeprefix(f"{self.row}, ")


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and the test of it, fixed before any run.

    Attributes:
        id: a name for it.
        source: where the paper says it, in its words.
        paper: the paper's numbers by arm; empty where it gives none.
        scope: where it is judged.
        holds_if: a comparison of measured quantities, see :mod:`lnexp.results.claims`.
        why: why this test and this threshold.
    """

    id: str
    source: str
    paper: dict[str, Any]
    scope: Scope
    holds_if: str
    why: str


@dataclass(frozen=True)
class Setting:
    """What a recipe sets at one profile: the corpus it takes unless told otherwise, and overrides for all arms."""

    data: str
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """One figure: arms to train and claims to judge.

    Attributes:
        name: of its file.
        title: what it compares.
        figure: the paper's.
        source: the paper's section.
        reading: how the paper is read where it can be read in two ways, "no warm-up" above all.
        settings: overrides that all arms share.
        profiles: what it sets at each profile.
        first_seed: of the seeds it is run with.
        n_seeds: how many there are.
        arms: by name, in the order they are drawn.
        claims: what must hold.
        task: what is learned, see :mod:`lnexp.tasks`.
        measurement: what is measured of each arm, where arms are not trained (see :mod:`lnexp.theory.measurement`).
        plot: of the rows of a measurement, what is ``x`` and what ``y``; for people ``x_label`` and ``y_label``, and
            ``x_scale`` and ``y_scale`` where they are ``log``. Claims are about it.
        more_plots: further ones, by the name of their picture; each is of the rows that have its x and y.
        outcomes: of a recipe with axes, which two make the ``rows`` and ``columns`` of a table of who trains, and
            ``over`` which third one, from no warm-up to a full one (see :mod:`lnexp.results.outcomes`).
    """

    name: str
    title: str
    figure: str
    source: str
    reading: str
    settings: tuple[str, ...]
    profiles: dict[str, Setting]
    first_seed: int
    n_seeds: int
    arms: dict[str, Arm]
    claims: tuple[Claim, ...]
    task: str = DEFAULT
    measurement: str = ""
    plot: dict[str, str] = field(default_factory=dict)
    more_plots: dict[str, dict[str, str]] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """Which figure it is, and what it compares."""
        return f"{self.figure}: {self.title}"

    @property
    def rows(self) -> dict[str, list[Arm]]:
        """The arms by the row of the figure that they are drawn in."""
        rows: dict[str, list[Arm]] = {}
        for arm in self.arms.values():
            rows.setdefault(arm.row, []).append(arm)
        return rows

    @property
    def settings_hash(self) -> str:
        """Eight hex digits for what it has trained or measured: settings, profiles and arms, but no words."""
        profiles = {name: [setting.data, setting.overrides] for name, setting in self.profiles.items()}
        deciding = [self.settings, profiles, {name: arm.overrides for name, arm in self.arms.items()}]
        later = [self.measurement, "" if self.task == DEFAULT else f"task={self.task}"]
        return short_hash([*deciding, *filter(None, later)])


@dataclass(frozen=True)
class Job:
    """One run that a recipe asks for, at one profile."""

    recipe: Recipe
    profile: str
    arm: Arm
    seed: int

    @property
    def overrides(self) -> list[str]:
        """What to say to Hydra for it."""
        shared = [*self.recipe.settings, *self.recipe.profiles[self.profile].overrides]
        where = [f"+recipe={self.recipe.name}", f"+arm={self.arm.name}"]
        task = [] if self.recipe.task == DEFAULT else [f"task={self.recipe.task}"]
        return [*task, *shared, *self.arm.overrides, f"seed={self.seed}", *where]


#: The one profile of recipes that train nothing.
THEORY = "theory"


def jobs_of(recipe: Recipe, cfg: DictConfig) -> list[Job]:
    """Every arm with every seed: the recipe's own, or those of the config's ``first_seed`` and ``n_seeds``."""
    first = recipe.first_seed if cfg.first_seed is None else cfg.first_seed
    count = recipe.n_seeds if cfg.n_seeds is None else cfg.n_seeds
    seeds = range(first, first + count)
    profile = THEORY if recipe.measurement else cfg.profile
    return [Job(recipe, profile, arm, seed) for seed in seeds for arm in recipe.arms.values()]
