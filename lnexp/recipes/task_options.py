"""Tell options that only some tasks have: a command line of recipes of several tasks gives each recipe its own."""

from collections.abc import Sequence
from functools import cache

from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.options import key_of
from lnexp.plain import ABSENT
from lnexp.tasks import load_task, task_names


@cache
def tasks_with(key: str) -> frozenset[str]:
    """Return the tasks that have an option, by its dotted name, where others lack it; none where every task has it."""
    having = frozenset(
        name for name in task_names() if any(f"{key}.".startswith(f"{row.name}.") for row in load_task(name).options)
    )
    lacking = set(task_names()) - having
    if not having or not lacking or any(_has(task, key) for task in lacking):
        return frozenset()
    return having


def _has(task: str, key: str) -> bool:
    """Return whether the default config of a task has an option that the task does not list."""
    return OmegaConf.select(compose([f"task={task}"]), key, default=ABSENT) is not ABSENT


def is_of_other_tasks(override: str, task: str) -> bool:
    """Return whether an override sets an option that other tasks have, and this one lacks."""
    having = tasks_with(key_of(override))
    return bool(having) and task not in having


def for_task(overrides: Sequence[str], task: str) -> list[str]:
    """Return the overrides that a config of a task can have: those of options that only others have are left out."""
    return [override for override in overrides if not is_of_other_tasks(override, task)]
