"""``-m +recipe=fig2a,fig4ab``: sweep the arms and seeds of recipes."""

from collections.abc import Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus

from lnexp.configuration import check, check_device, forget_fairseq_schemas, register_resolvers
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.recipes import Recipe, check_overrides, jobs_of, split_recipes
from lnexp.runs.folder import RunFolder


class RecipeSweeper(BasicSweeper):
    """Hydra's own sweeper; with ``+recipe=…`` it launches what the recipes ask for and what is not there yet.

    A run that two arms share (of one recipe or of two) is launched once, and a finished one not at all. A sweep in
    which a run failed trains all others, then raises.

    Raises:
        UserError: for an unknown recipe, an option that the recipe itself sets, or a sweep in which runs failed.
    """

    def sweep(self, arguments: list[str]) -> Any:
        recipes, rest = split_recipes(arguments)
        returns = self._sweep_recipes(recipes, rest) if recipes else self._sweep_product(rest)
        _raise_on_failure([job for batch in returns for job in batch])
        return returns

    def _sweep_recipes(self, recipes: list[Recipe], rest: list[str]) -> list[Sequence[JobReturn]]:
        assert self.config is not None
        assert self.launcher is not None
        check_overrides(recipes, rest)
        check(self.config)
        jobs = [job for recipe in recipes for job in jobs_of(recipe, self.config)]
        missing, distinct = self._missing([[*rest, *job.overrides] for job in jobs])
        names = ", ".join(recipe.name for recipe in recipes)
        print(f"{names}: {len(jobs)} arms × seeds are {distinct} runs, {distinct - len(missing)} of them done already")
        return [self.launcher.launch(missing, initial_job_idx=0)] if missing else []

    def _sweep_product(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        """Hydra's own sweep, which would raise at the first failure it sees."""
        assert self.launcher is not None
        overrides = OverridesParser.create().parse_overrides(arguments)
        returns, launched = [], 0
        for batch in self.split_arguments(overrides, self.max_batch_size):
            self.validate_batch_is_legal(batch)
            returns.append(self.launcher.launch(batch, initial_job_idx=launched))
            launched += len(batch)
        return returns

    def _missing(self, jobs: list[list[str]]) -> tuple[list[list[str]], int]:
        """The jobs still to launch, each run once, and the number of distinct runs."""
        assert self.hydra_context is not None
        register_resolvers()
        missing, seen = [], set()
        for overrides in jobs:
            cfg = self.hydra_context.config_loader.load_sweep_config(self.config, overrides)
            check(cfg)
            folder = RunFolder.of(cfg)
            if folder.identity not in seen and (cfg.force or not folder.is_done):
                check_device(cfg)
                prepare(cfg.data, cfg.data_dir)  # once, not in every worker
                forget_fairseq_schemas()
                missing.append(overrides)
            seen.add(folder.identity)
        return missing, len(seen)


def _raise_on_failure(returns: list[JobReturn]) -> None:
    failed = [job for job in returns if job.status == JobStatus.FAILED]
    if failed:
        reasons = "".join(f"\n  {' '.join(job.overrides or [])}: {_reason(job)}" for job in failed)
        raise UserError(f"{len(failed)} of {len(returns)} runs failed; the same command goes on with them:{reasons}")


def _reason(job: JobReturn) -> str:
    error = job._return_value  # the public property raises it
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error} (see its train.log)"
