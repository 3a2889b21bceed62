"""Hold a recipe: its arms, its claims, and what it sets."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lnexp.errors import UserError, near_names
from lnexp.hashing import short_hash
from lnexp.recipes.claim import Claim
from lnexp.recipes.sweep_settings import SweepSettings
from lnexp.schema import twice
from lnexp.tasks import DEFAULT

#: The name of a recipe's first figure: its curves, or the plot of a measurement.
MAIN_FIGURE = "figure"


@dataclass(frozen=True)
class Arm:
    """One line of a figure.

    Attributes:
        name: what claims and tables call it.
        label: what people read.
        overrides: the options that tell it from the other arms.
        row: the row of the figure that it is drawn in, which its label begins with; figures of few arms have one row,
            without a name.
        values: the labels of its values by axis, in a recipe with axes.
        keys: the names of its values by axis, which make its own.
    """

    name: str
    label: str
    overrides: tuple[str, ...]
    row: str = ""
    values: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def label_in_row(self) -> str:
        """The part of the label that tells it from the other arms of its row."""
        return self.label.removeprefix(f"{self.row}, ")


@dataclass(frozen=True)
class Setting:
    """What a recipe sets at one profile.

    Attributes:
        data: the corpus that it takes unless told otherwise.
        overrides: options of all arms.
        first_seed: the first of its seeds; None: the same as elsewhere.
        n_seeds: how many seeds are planned; None: as many as elsewhere.
        corpus: options of the corpus. A path is relative to the recipe's file.
        known: what was known there when the claims were written, after what was known everywhere.
        doubt: what speaks there against reading the results as the claims do, after what does everywhere.
    """

    data: str
    overrides: tuple[str, ...] = ()
    first_seed: int | None = None
    n_seeds: int | None = None
    corpus: tuple[str, ...] = ()
    known: str = ""
    doubt: str = ""


@dataclass(frozen=True)
class Recipe:
    """One figure: arms to train and claims to judge.

    Attributes:
        name: the name of its file.
        title: what it compares.
        figure: the figure of the paper, or a name for what is none of its figures.
        source: the section of the paper.
        reading: how the paper is read where it can be read in two ways, "no warm-up" above all.
        settings: overrides that all arms share.
        profiles: what it sets at each profile.
        first_seed: the first of the seeds that it is trained with, where a profile does not say otherwise.
        n_seeds: how many seeds there are, where a profile does not say otherwise.
        arms: by name, in the order they are drawn; Hydra must read a name as text, which ``1e-3`` is not.
        claims: statements, with a test of each.
        task: what is learned, see :mod:`lnexp.tasks`.
        measurement: what is measured of each arm, where arms are not trained (see :mod:`lnexp.theory.measurement`).
        plot: of the rows of a measurement, what is ``x`` and what ``y``; for people ``x_label`` and ``y_label``, and
            ``x_scale`` and ``y_scale`` where they are ``log``; ``y_range: own`` where rows of arms measure different
            things, so that their panels share none. Claims are about it.
        more_plots: further ones, by the name of their picture; each is of the rows that have its columns. One with a
            ``colour`` is a heat map an arm, x to the right and y down; ``colour_label``, and ``colour_scale`` where it
            is ``log``.
        outcomes: of a recipe with axes, which two make the ``rows`` and ``columns`` of a table of who trains, and
            ``over`` which third one, from no warm-up to a full one (see :mod:`lnexp.results.measures.outcomes`).
        sweep: of a recipe whose outcomes have rates as columns and lengths of warm-up over them, the ``initial_nll``,
            ``within``, ``good`` and ``other_rate`` of measures over several arms (see
            :class:`lnexp.recipes.sweep_settings.SweepSettings` and :mod:`lnexp.results.measures.sweep_measures`).
        baselines: the arms that pages compare the final nll of every other one with.
        exploratory_on: corpora on which all claims are exploratory.
        known: which results with other seeds were known when the claims were written.
        doubt: what speaks against reading the results as the claims do.
        success: of recipes whose arms are trained, the ``measure`` and the ``fraction`` of the best arm's mean that a
            run has to exceed, and a score that it has to exceed ``at_least``; empty for the default (see
            :mod:`lnexp.results.measures.success`).
        file: where a recipe lies that is none of ``recipes/``.
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
    sweep: SweepSettings | None = None
    baselines: tuple[str, ...] = ()
    exploratory_on: tuple[str, ...] = ()
    known: str = ""
    doubt: str = ""
    success: dict[str, Any] = field(default_factory=dict)
    file: Path | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where two claims have one id, where a claim names none of the others as the one that counts,
        or one that does not count itself for another, and where a baseline is no arm.
        """
        for name in self.baselines:
            if name not in self.arms:
                raise ValueError(f"baselines: {name} is no arm of the recipe")
        by_id = {claim.id: claim for claim in self.claims}
        if len(by_id) < len(self.claims):
            raise ValueError(f"claims: {twice(claim.id for claim in self.claims)}")
        for claim in self.claims:
            for key in ("implied_by", "restates"):
                self._check_named(claim, key, by_id)

    @staticmethod
    def _check_named(claim: Claim, key: str, by_id: Mapping[str, Claim]) -> None:
        name = getattr(claim, key)
        other = by_id.get(name)
        if name and (other is None or other is claim or other.implied_by or other.restates or other.check):
            own = other in (None, claim)
            why = "of the recipe" if own else "that is implied by none and restates none, and is no check"
            raise ValueError(f"claim {claim.id}: {key}: {name} is no other claim {why}")

    def with_arms(self, arms: Mapping[str, Arm]) -> "Recipe":
        """Return the recipe with other arms, by name, and of its baselines those that are among them."""
        return replace(self, arms=dict(arms), baselines=tuple(name for name in self.baselines if name in arms))

    @property
    def reference(self) -> str:
        """What a command takes for it: its name, or the path of its file."""
        return str(self.file) if self.file else self.name

    def claim_on(self, claim: Claim, data: str) -> Claim:
        """Return a claim as it stands on a corpus."""
        return replace(claim, exploratory=True) if data in self.exploratory_on else claim

    def setting_at(self, profile: str) -> Setting:
        """Return what the recipe sets at a profile. Raises UserError where it says nothing of it."""
        if profile not in self.profiles:
            raise UserError(f"profile={profile}: recipe {self.name} has none; {near_names(profile, self.profiles)}")
        return self.profiles[profile]

    def arm_named(self, name: str, option: str) -> Arm:
        """Return an arm that an option names. Raises UserError where there is none."""
        if name not in self.arms:
            raise UserError(f"{option}={name}: recipe {self.name} has none; {near_names(name, self.arms)}")
        return self.arms[name]

    def planned_at(self, profile: str) -> range:
        """Return the seeds that are planned at a profile."""
        setting = self.profiles.get(profile)
        first = self.first_seed if setting is None or setting.first_seed is None else setting.first_seed
        count = self.n_seeds if setting is None or setting.n_seeds is None else setting.n_seeds
        return range(first, first + count)

    def known_at(self, profile: str) -> str:
        """Return which results were known when the claims were written, of those that matter at a profile."""
        return self._said_at(profile, "known")

    def doubt_at(self, profile: str) -> str:
        """Return what speaks against reading the results of a profile as the claims do."""
        return self._said_at(profile, "doubt")

    def _said_at(self, profile: str, what: str) -> str:
        """Return what the recipe says of all profiles and then what it says of one."""
        parts = (getattr(one, what).strip() for one in (self, self.profiles.get(profile)) if one)
        return " ".join(filter(None, parts))

    @property
    def plots(self) -> dict[str, dict[str, str]]:
        """What is plotted of a measurement, by the name of the picture; ``plot`` comes first."""
        return {MAIN_FIGURE: self.plot, **self.more_plots}

    @property
    def is_of_trained_runs(self) -> bool:
        """Whether a measurement is of trained runs, those of another recipe, and not of models before training."""
        return any(setting.startswith("run.recipe=") for setting in self.settings)

    @property
    def with_its_starts(self) -> list[str]:
        """What commands that train it take: the recipe whose runs its own start from, if there is one, and its own."""
        said = (setting.partition("=") for setting in self.settings)
        return [*(value for key, _, value in said if key == "start.recipe"), self.reference]

    @property
    def shown_reference(self) -> str:
        """What a reader types for it: its name, or the path of its file from here."""
        return os.path.relpath(self.file) if self.file else self.name

    @property
    def heading(self) -> str:
        """The figure, and what it compares."""
        return f"{self.figure}: {self.title}"

    @property
    def choice_of_task(self) -> list[str]:
        """The override that chooses the task; none for the default one."""
        return [] if self.task == DEFAULT else [f"task={self.task}"]

    @property
    def rows(self) -> dict[str, list[Arm]]:
        """The arms by the row of the figure that they are drawn in."""
        return self.rows_of(self.arms)

    def rows_of(self, names: Collection[str]) -> dict[str, list[Arm]]:
        """Return the arms of these names by the row of the figure that they are drawn in."""
        rows: dict[str, list[Arm]] = {}
        for arm in self.arms.values():
            if arm.name in names:
                rows.setdefault(arm.row, []).append(arm)
        return rows

    def arms_like(self, patterns: Sequence[str]) -> list[Arm]:
        """Return the arms whose names match one of these patterns, as ``post_ln_*``, in the order they are drawn.

        Raises:
            UserError: for a pattern that matches no arm.
        """
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in self.arms):
                raise UserError(f"arms={pattern}: recipe {self.name} has no such arm; {near_names(pattern, self.arms)}")
        return [arm for name, arm in self.arms.items() if any(fnmatchcase(name, pattern) for pattern in patterns)]

    def settings_hash(self, profile: str) -> str:
        """Return eight hex digits of what decides results at a profile, as settings, task and success; no labels.

        Raises:
            UserError: where the recipe says nothing of the profile.
        """
        setting = self.setting_at(profile)
        arms = {name: arm.overrides for name, arm in self.arms.items()}
        deciding = [self.settings, setting.data, setting.overrides, arms]
        sweep = self.sweep.numbers if self.sweep else []
        later = [self.measurement, *self.choice_of_task, self.success, setting.corpus, sweep]
        return short_hash([*deciding, *filter(None, later)])
