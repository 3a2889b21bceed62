"""Our resolved config as fairseq's."""

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

from fairseq.dataclass.configs import FairseqConfig
from fairseq.dataclass.initialize import add_defaults
from fairseq.models import MODEL_DATACLASS_REGISTRY
from fairseq.optim import OPTIMIZER_DATACLASS_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_DATACLASS_REGISTRY
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.errors import UserError, near_names
from lnexp.plain import plain
from lnexp.tasks import task_of


def to_fairseq(cfg: DictConfig, data: Path, checkpoints: Path) -> DictConfig:
    """fairseq's config: its own defaults, under what ``cfg.fairseq`` says, with this run's paths.

    Raises:
        UserError: for an option, a model, an optimizer or a schedule that fairseq does not have, or a value of the
            wrong type.
    """
    task_of(cfg).register()
    merged = _defaults()
    for group, options in plain(cfg.fairseq).items():
        _merge(merged, group, options)
    for group, known in REGISTRIES.items():
        _check_known(group, str(merged[group].get("_name")), known)
    try:
        add_defaults(merged)
    except OmegaConfBaseException as error:
        raise UserError(f"fairseq: {str(error).splitlines()[0]}") from error
    merged.task.data = str(data)
    merged.checkpoint.save_dir = str(checkpoints)
    return merged


#: What fairseq knows by name. It would take a model that it does not know for one without options.
REGISTRIES = {
    "model": MODEL_DATACLASS_REGISTRY,
    "optimizer": OPTIMIZER_DATACLASS_REGISTRY,
    "lr_scheduler": LR_SCHEDULER_DATACLASS_REGISTRY,
}


def _check_known(group: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UserError(f"fairseq.{group}._name={name}: there is none; {near_names(name, known)}")


def _defaults() -> DictConfig:
    """Every group of fairseq's own options at its defaults; the chosen parts (model, task, …) empty."""
    groups = {}
    for field in dataclasses.fields(FairseqConfig):
        structured = dataclasses.is_dataclass(field.default)
        groups[field.name] = OmegaConf.structured(field.default) if structured else None
    return OmegaConf.create(groups)


def _merge(merged: DictConfig, group: str, options: dict[str, Any]) -> None:
    if group not in merged:
        raise UserError(f"fairseq.{group}: fairseq has no such group; {near_names(group, map(str, merged))}")
    known = merged[group]
    if known is None:
        merged[group] = options
        return
    for option in options:
        if option not in known:
            raise UserError(
                f"fairseq.{group}.{option}: fairseq has no such option; {near_names(option, map(str, known))}"
            )
    try:
        merged[group] = OmegaConf.merge(known, options)
    except OmegaConfBaseException as error:
        raise UserError(f"fairseq.{group}: {str(error).splitlines()[0]}") from error
