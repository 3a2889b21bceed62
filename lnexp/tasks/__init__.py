"""Tasks: what is learned and how it is measured, one package each. The rest of lnexp knows :class:`Task` alone."""

import importlib
import pkgutil
from functools import cache
from typing import Any

from lnexp.errors import UserError, near_names
from lnexp.options import Table
from lnexp.tasks.contract import Task

#: The task of a config or recipe that names none, as those written before there was a choice.
DEFAULT = "translation"


def task_names() -> list[str]:
    """Return the names of all tasks: the packages in this one."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


@cache
def load_task(name: str) -> Task:
    """Return the task of a package ``lnexp.tasks.<name>``, its ``TASK``.

    Raises:
        UserError: for an unknown name.
    """
    if name not in task_names():
        raise UserError(f"task={name}: no such task; {near_names(name, task_names())}")
    task: Task = importlib.import_module(f"{__name__}.{name}").TASK
    return task


def all_tasks() -> list[Task]:
    """Return every task, in the order of their names."""
    return list(map(load_task, task_names()))


def task_of(cfg: Any) -> Task:
    """Return the task of a config, resolved or not, or of a plain dictionary."""
    return load_task(str(cfg.get("task") or DEFAULT))


@cache
def table_of_task(task: str) -> Table:
    """Return the options that a config of a task can have."""
    return Table(load_task(task).options)


def table_of(cfg: Any) -> Table:
    """Return the options of a config, resolved or not, or of a plain dictionary: every run's, and those of its task."""
    return table_of_task(str(cfg.get("task") or DEFAULT))
