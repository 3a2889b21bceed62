"""Make fairseq's config of our resolved one, and build the task, the model and the criterion that it describes."""

import copy
import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fairseq import tasks
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, FairseqCriterion
from fairseq.dataclass.configs import FairseqConfig
from fairseq.dataclass.initialize import add_defaults
from fairseq.models import MODEL_DATACLASS_REGISTRY, BaseFairseqModel
from fairseq.optim import OPTIMIZER_DATACLASS_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_DATACLASS_REGISTRY
from fairseq.tasks import TASK_DATACLASS_REGISTRY, FairseqTask
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

from lnexp.errors import RefusedConfigError, UserError, first_line, near_names
from lnexp.options import OURS
from lnexp.plain import find, plain
from lnexp.tasks import task_of


def to_fairseq(cfg: DictConfig, data: Path, checkpoints: Path) -> DictConfig:
    """Return fairseq's config: its defaults, overridden by ``cfg.fairseq``, with this run's paths.

    Raises:
        RefusedConfigError: for an option, a model, an optimizer or a schedule that fairseq does not have, or a value of
            the wrong type.
        UserError: for a path that fairseq cannot read.
    """
    task_of(cfg).register()
    merged = _defaults()
    for group, options in plain(cfg.fairseq).items():
        _merge(merged, group, options)
    for group, known in REGISTRIES.items():
        name = str(merged[group].get("_name"))
        _check_known(group, name, known)
        _check_options(group, known[name], merged[group])
    add_defaults(merged)
    if os.pathsep in str(data):
        raise UserError(f"data_dir: {data}: fairseq reads {os.pathsep} as the end of a path; take another folder")
    merged.task.data = str(data)
    merged.checkpoint.save_dir = str(checkpoints)
    return merged


#: What fairseq knows by name. It would take an unknown model for one without options.
REGISTRIES = {
    "model": MODEL_DATACLASS_REGISTRY,
    "optimizer": OPTIMIZER_DATACLASS_REGISTRY,
    "lr_scheduler": LR_SCHEDULER_DATACLASS_REGISTRY,
    "criterion": CRITERION_DATACLASS_REGISTRY,
    "task": TASK_DATACLASS_REGISTRY,
}


def build_task(fairseq: DictConfig) -> FairseqTask:
    """Return the task of a fairseq config. Raises UserError for options that it cannot have."""
    with _mistakes("task"):
        return tasks.setup_task(fairseq.task)


def build_model(task: FairseqTask, fairseq: DictConfig) -> BaseFairseqModel:
    """Return the model of a fairseq config. Raises UserError for options that no model can have."""
    with _mistakes("model"):
        return task.build_model(fairseq.model)


def build_criterion(task: FairseqTask, fairseq: DictConfig) -> FairseqCriterion:
    """Return the criterion of a fairseq config. Raises UserError for options that it cannot have."""
    with _mistakes("criterion"):
        return task.build_criterion(fairseq.criterion)


@contextmanager
def _mistakes(part: str) -> Iterator[None]:
    """Turn what fairseq and torch raise for values that cannot be meant into one line."""
    try:
        yield
    except UserError:
        raise
    except (ArithmeticError, AssertionError, RuntimeError, ValueError, OmegaConfBaseException) as error:
        raise UserError(f"{part}: {first_line(error)}") from error


def _check_known(group: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise RefusedConfigError(f"fairseq.{group}._name={name}: there is none; {near_names(name, known)}")


def _check_options(group: str, known: Any, options: DictConfig) -> None:
    """Refuse options that the dataclass of a model, an optimizer and the like does not have, or cannot have so."""
    try:
        OmegaConf.merge(known, options)
    except OmegaConfBaseException as error:
        raise RefusedConfigError(_in_words(error, group, options)) from error


def _in_words(error: OmegaConfBaseException, group: str, options: Mapping[str, Any]) -> str:
    """Return what is wrong with an option of a group, with the option's name, which OmegaConf has in another line."""
    key, (reason, *_) = str(error.full_key).removeprefix(f"{group}."), str(error).splitlines()
    name = f"fairseq.{group}.{key}"
    for ours in OURS:
        if ours.is_group and f"fairseq.{group}" in [alias.name for alias in ours.aliases]:
            name = f"{ours.name}.{key}"
    if isinstance(error, ConfigKeyError):
        known = [field.name for field in dataclasses.fields(error.object_type)] if error.object_type else []
        return f"{name}: {options.get('_name', group)} has no such option; {near_names(key, known)}"
    return f"{name}={find(dict(options), key)}: {reason[reason.index('could') :] if 'could' in reason else reason}"


def _defaults() -> DictConfig:
    """Return fairseq's groups of options at their defaults; those that a name chooses (model, task, …) are None."""
    return copy.deepcopy(_defaults_once())


@cache
def _defaults_once() -> DictConfig:
    groups = {}
    for field in dataclasses.fields(FairseqConfig):
        structured = dataclasses.is_dataclass(field.default)
        groups[field.name] = OmegaConf.structured(field.default) if structured else None
    return OmegaConf.create(groups)


def _merge(merged: DictConfig, group: str, options: dict[str, Any]) -> None:
    if group not in merged:
        raise RefusedConfigError(f"fairseq.{group}: fairseq has no such group; {near_names(group, map(str, merged))}")
    known = merged[group]
    if known is None:
        merged[group] = options
        return
    for option in options:
        if option not in known:
            raise RefusedConfigError(
                f"fairseq.{group}.{option}: fairseq has no such option; {near_names(option, map(str, known))}"
            )
    try:
        merged[group] = OmegaConf.merge(known, options)
    except OmegaConfBaseException as error:
        raise RefusedConfigError(_in_words(error, group, options)) from error
