"""Make the fairseq config of an array from those that its members would have as runs of their own."""

import copy
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.plugin.arrays.criterion import ARRAY_CRITERIA


def as_array(singles: Sequence[DictConfig], precision: str) -> DictConfig:
    """Return one config that trains all members.

    Args:
        singles: what :func:`lnexp.fairseq_config.to_fairseq` gives for each member; they agree on everything but
            seed, optimizer and schedule.
        precision: ``fp32`` or ``bf16``.

    Raises:
        UserError: for a schedule or a criterion that has no form for arrays.
    """
    for name in (single.lr_scheduler._name for single in singles):
        if not name.startswith("lnexp_"):  # some of fairseq's follow the validation loss of all members
            raise UserError(f"lr_schedule._name={name}: an array has schedules of lnexp's alone")
    array = copy.deepcopy(singles[0])
    array.model = {
        "_name": "lnexp_array",
        "member": options_of(singles[0], "model"),
        "seeds": [single.common.seed for single in singles],
        "precision": precision,
    }
    array.criterion = array_criterion(options_of(singles[0], "criterion"))
    array.optimizer = {"_name": "lnexp_array", "members": [options_of(single, "optimizer") for single in singles]}
    array.lr_scheduler = {"_name": "lnexp_array", "members": [options_of(single, "lr_scheduler") for single in singles]}
    array.common.bf16 = False  # the array computes in bf16 by itself, with parameters in fp32
    array.checkpoint.no_save = True  # its members are saved, each in its own folder
    # fairseq would collect the state after an error, and hide the error by that of an array, which has no one state
    array.checkpoint.no_save_optimizer_state = True
    return array


def array_criterion(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the criterion that computes what a single run's does, for every member.

    Raises:
        UserError: for a criterion that has no form for arrays.
    """
    name = options["_name"]
    if name not in ARRAY_CRITERIA:
        known = ", ".join(ARRAY_CRITERIA)
        raise UserError(f"fairseq.criterion._name={name}: an array knows {known} alone; take another launcher")
    return ARRAY_CRITERIA[name](options)


def options_of(single: DictConfig, group: str) -> dict[str, Any]:
    """Return a group of fairseq's options, with everything filled in that it takes from other groups."""
    options: Any = OmegaConf.to_container(single[group], resolve=True, enum_to_str=True)
    return options
