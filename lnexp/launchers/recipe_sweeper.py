"""Sweep the arms and seeds of recipes, ``-m +recipe=fig2a,fig4ab``, or a product of values, ``-m lr_max=…,…``."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn

from lnexp.combinations import combinations
from lnexp.composer import Composer
from lnexp.configuration import check, register_resolvers
from lnexp.errors import UserError
from lnexp.launchers.composing_launcher import ComposingLauncher
from lnexp.launchers.plan import Plan
from lnexp.launchers.retry import RepeatedLaunch
from lnexp.launchers.watch import Watch
from lnexp.launchers.without_effect import without_effect
from lnexp.launchers.worker import set_up_idle_workers
from lnexp.overrides import spell_out
from lnexp.recipes.command_line import check_overrides, shared_overrides, split_recipes, with_corpus
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.recipe import Recipe
from lnexp.runs.code import may_train_again
from lnexp.runs.identity import label_of_overrides
from lnexp.runs.quiet import runs_are_quiet
from lnexp.runs.sweep import Sweep
from lnexp.terminal import filled

#: How the names of launchers end whose runs are trained on other machines than this one.
OF_CLUSTERS = "SlurmLauncher"


class RecipeSweeper(BasicSweeper):
    """Hydra's own sweeper, which also knows recipes, and launches only the runs that are not finished.

    A run that several recipes share is launched once. A sweep in which a run fails trains all others, then raises.

    Args:
        max_batch_size, params: as Hydra's own sweeper has them.
        of_tasks: further arguments: options that only some tasks have, which the sweep's own config cannot take.

    Raises:
        UserError: for an unknown recipe, an option that the recipe itself sets, or a sweep in which runs failed.
    """

    def __init__(self, max_batch_size: int | None, params: dict[str, str] | None = None, of_tasks: Sequence[str] = ()):
        super().__init__(max_batch_size, params)
        self.of_tasks = of_tasks

    def sweep(self, arguments: list[str]) -> list[JobReturn]:
        assert self.config is not None
        assert self.hydra_context is not None
        assert self.launcher is not None
        register_resolvers()
        set_up_idle_workers(self.launcher)
        loader, config = self.hydra_context.config_loader, self.config
        recipes, rest = split_recipes([*self._parse_config(), *arguments, *self.of_tasks])
        _check_claims(recipes)
        composer = Composer(lambda overrides: loader.load_sweep_config(config, overrides))
        if isinstance(self.launcher, ComposingLauncher):
            self.launcher.share(composer)
        # launchers of others have Hydra compose the jobs, which knows no aliases
        jobs = [spell_out(job) for job in (self._jobs_of(recipes, rest, composer) if recipes else self._product(rest))]
        here = not str(config.hydra.launcher.get("_target_")).endswith(OF_CLUSTERS)
        plan = Plan.of(jobs, composer.compose, config.runs_dir, here)
        title = ", ".join(recipe.name for recipe in recipes) or " ".join(filter(_is_swept, rest)) or "one run"
        what = "arms × seeds" if recipes else "jobs"
        launched, done = len(plan.missing), len(plan.members) - len(plan.missing)
        failures = plan.prepare()
        plan.refuse_missing_epochs(composer.compose)
        shared = f"{len(jobs)} {what} are " if len(jobs) > len(plan.members) else ""
        counts = (
            f"{shared}{len(plan.members)} {'run' if len(plan.members) == 1 else 'runs'}, {done} of them done already"
        )
        idle = without_effect(rest, jobs, composer.compose, with_recipe=bool(recipes))
        for line in filter(None, (*idle, *plan.notes, f"{title}: {counts}")):
            print(filled(line), flush=True)
        sweep = Sweep(title, list(plan.members.values()))
        with nullcontext() if plan.missing else suppress(OSError):  # the folder of a finished sweep may be read only
            sweep.save(config.runs_dir)
        launch = RepeatedLaunch(plan.missing, self._launch, config.runs_dir, may_train_again(config))
        with Watch(sweep, config.runs_dir, launch.left, quiet=runs_are_quiet()):
            launch.run()
        _raise_on(failures | launch.failures, launched)
        return launch.returns

    def _jobs_of(self, recipes: list[Recipe], rest: list[str], composer: Composer) -> list[list[str]]:
        """Return the overrides of every run that recipes ask for.

        Args:
            recipes: the recipes.
            rest: the other arguments of the command line.
            composer: of the sweep.

        Raises:
            UserError: for arguments that change what an arm is.
        """
        assert self.config is not None
        check_overrides(recipes, rest)
        profile = self.config.profile
        for recipe in recipes:
            check(composer.compose(shared_overrides(recipe, profile, rest)))
        return [
            [*with_corpus(recipe, profile, rest), *job.overrides]
            for recipe in recipes
            for job in jobs_of(recipe, self.config)
        ]

    def _product(self, arguments: list[str]) -> list[list[str]]:
        """Return the overrides for every combination of the values that options have, as in Hydra's own sweep.

        What is swept becomes a part of the names of the runs' folders.
        """
        jobs = combinations(arguments)
        self.validate_batch_is_legal([job for job, _ in jobs])
        labelled = [(job, label_of_overrides(varied)) for job, varied in jobs]
        return [[*job, f"+label={label}"] if label else job for job, label in labelled]

    def _launch(self, jobs: list[list[str]]) -> list[JobReturn]:
        """Launch jobs, at most ``hydra.sweeper.max_batch_size`` at once."""
        assert self.launcher is not None
        size = self.max_batch_size or len(jobs)
        returns: list[JobReturn] = []
        for start in range(0, len(jobs), size):
            batch: Sequence[Any] = jobs[start : start + size]
            returns += self.launcher.launch(batch, initial_job_idx=self.batch_index)
            self.batch_index += len(batch)
        return returns


def _is_swept(argument: str) -> bool:
    return OverridesParser.create().parse_override(argument).is_sweep_override()


def _check_claims(recipes: list[Recipe]) -> None:
    """Refuse recipes whose claims cannot be judged. Raises UserError."""
    if recipes:
        # here, for a sweep without a recipe does not need pandas
        from lnexp.results.judging.questions import check_claims

        for recipe in recipes:
            check_claims(recipe)


def _raise_on(failures: dict[str, str], launched: int) -> None:
    if failures:
        reasons = "".join(f"\n  {name}: {reason}" for name, reason in failures.items())
        raise UserError(f"{len(failures)} of {launched} runs failed; the same command trains them again:{reasons}")
