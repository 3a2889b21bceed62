"""Find the options of a command line that change nothing of the runs it asks for, so that they can be warned of."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.cli import is_a_mistake
from lnexp.hashing import short_hash
from lnexp.options import Table, key_of
from lnexp.paths import CONFIG_DIR
from lnexp.plain import ABSENT, find
from lnexp.runs.identity import deciding_settings, identity
from lnexp.tasks import table_of

#: Options that a recipe alone knows.
OF_RECIPES = ("n_seeds", "first_seed", "arms")
#: Sizes that decide nothing by themselves, but by the options that are made of them.
SCALE = "scale"

Compose = Callable[[Sequence[str]], DictConfig]


def without_effect(
    options: Iterable[str], jobs: Sequence[Sequence[str]], compose: Compose, with_recipe: bool
) -> list[str]:
    """Return a warning for each option that has another value than its default and leaves every run what it is.

    Args:
        options: of the command line, a swept one with all its values.
        jobs: the overrides of each run.
        compose: returns the config for overrides.
        with_recipe: whether the runs are those of recipes.
    """
    said = {key_of(option): option for option in options}
    alone = [key for key in said if key in OF_RECIPES and not with_recipe]
    different = {tuple(word for word in job if key_of(word) != "seed"): job for job in jobs}.values()
    asked = [_Job(words, compose) for words in different]
    idle = [key for key in said if _is_idle(key, asked, compose)]
    return [f"warning: {said[key]}: has no effect without a recipe" for key in alone] + [
        f"warning: {said[key]}: has no effect on {'these runs' if len(jobs) > 1 else 'this run'}" for key in idle
    ]


class _Job:
    """A run that is asked for, composed and identified at most once for all options.

    Args:
        words: its overrides.
        compose: see :func:`without_effect`.
    """

    def __init__(self, words: Sequence[str], compose: Compose):
        self.words = words
        self._compose = compose

    @cached_property
    def cfg(self) -> DictConfig:
        return self._compose(self.words)

    @cached_property
    def table(self) -> Table:
        return table_of(self.cfg)

    @cached_property
    def _deciding(self) -> dict[str, Any]:
        return deciding_settings(self.cfg)

    @cached_property
    def identity(self) -> str:
        return short_hash(self._deciding)

    def is_decided_by(self, key: str) -> bool:
        """Return whether an option's value stands among the settings that decide the run, so that another one makes it
        another run; it can decide without standing there.
        """
        places = self.table.values_of(key, _value(self.cfg, key))
        return any(find(self._deciding, place, ABSENT) == value for place, value in places)


def _is_idle(key: str, jobs: Iterable[_Job], compose: Compose) -> bool:
    """Return whether an option is set to another value than its default, and no job is another run for that."""
    set_apart = False
    for job in jobs:
        rest = [word for word in job.words if key_of(word) != key]
        if len(rest) == len(job.words) or not _may_be_idle(key, job.table):
            continue
        try:
            if job.is_decided_by(key):  # which saves composing and identifying the run without it
                return False
            default = compose(rest)
            if _value(job.cfg, key) == _value(default, key):
                continue
            if job.identity != identity(default):
                return False
        except Exception as error:
            if not is_a_mistake(error):
                raise
            return False  # the job is none, or none without the option
        set_apart = True
    return set_apart


def _may_be_idle(key: str, table: Table) -> bool:
    """Return whether an option is one of ours that decides what a run measures; files of groups always do."""
    is_group = (CONFIG_DIR / key).is_dir()
    return not is_group and not key.startswith("fairseq.") and (table.decides(key) or key.split(".")[0] == SCALE)


def _value(cfg: DictConfig, key: str) -> object:
    return OmegaConf.select(cfg, key, default=ABSENT)
