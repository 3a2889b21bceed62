"""The fairseq config of an array, made of those that its members would have alone."""

import copy
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.options import Table

#: Options of fairseq's that mean something to a run of its own and nothing to an array, with the value that both have.
ONLY = Table().array_values()


def as_array(singles: Sequence[DictConfig], precision: str) -> DictConfig:
    """One config that trains them all.

    Args:
        singles: what :func:`lnexp.fairseq_config.to_fairseq` gives for each member; they agree on all that is
            not a member's own: seed, optimizer and schedule.
        precision: ``fp32`` or ``bf16``.

    Raises:
        UserError: for what an array cannot have.
    """
    _refuse(singles[0], precision)
    array = copy.deepcopy(singles[0])
    array.model = {
        "_name": "lnexp_array",
        "member": options_of(singles[0], "model"),
        "seeds": [single.common.seed for single in singles],
        "precision": precision,
    }
    array.criterion = {"_name": "lnexp_array", "label_smoothing": singles[0].criterion.label_smoothing}
    array.optimizer = {"_name": "lnexp_array", "members": [options_of(single, "optimizer") for single in singles]}
    array.lr_scheduler = {"_name": "lnexp_array", "members": [options_of(single, "lr_scheduler") for single in singles]}
    array.common.bf16 = False  # the array computes in bf16 by itself, with parameters in fp32
    array.checkpoint.no_save = True  # its members are saved, each in its own folder
    return array


def _refuse(single: DictConfig, precision: str) -> None:
    if precision not in ("fp32", "bf16"):
        raise UserError(f"precision={precision}: an array has no loss scale; take bf16 or fp32")
    if not single.lr_scheduler._name.startswith("lnexp_"):  # some of fairseq's follow the validation loss of all
        raise UserError(f"lr_schedule._name={single.lr_scheduler._name}: an array has schedules of lnexp's alone")
    for option, only in ONLY.items():
        value = OmegaConf.select(single, option)
        if value is not None and value != only:
            raise UserError(f"fairseq.{option}={value}: an array knows {only} alone; take another launcher")


def options_of(single: DictConfig, group: str) -> dict[str, Any]:
    """A group of fairseq's options with everything filled in that it takes from other groups."""
    options: Any = OmegaConf.to_container(single[group], resolve=True, enum_to_str=True)
    return options
