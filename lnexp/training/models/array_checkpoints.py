"""Save and load an array's members, each in a checkpoint as a run of its own would have it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.trainer import Trainer
from omegaconf import DictConfig, OmegaConf

from lnexp.files import naming
from lnexp.runs.checksum import remove_checksum, write_checksum
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import load, refuse_other_run
from lnexp.training.models.resuming import refuse_other_update, resuming


def member_checkpoint(
    trainer: Trainer, member: int, single: DictConfig, train_iterator: dict[str, Any], identity: str
) -> dict[str, Any]:
    """Return a member's checkpoint as fairseq's trainer would make it for a run of its own, on the CPU.

    Args:
        trainer: the array's.
        member: which of its members.
        single: the fairseq config of that member alone.
        train_iterator: the position in the data, as fairseq saves it.
        identity: of the run that the member is.
    """
    schedule = trainer.lr_scheduler.members[member]
    return {
        "args": None,
        "cfg": OmegaConf.to_container(single, resolve=True, enum_to_str=True),
        "model": member_model(trainer.model, member),
        "criterion": None,
        "optimizer_history": [
            {
                "criterion_name": CRITERION_REGISTRY[single.criterion._name].__name__,  # compared at a resume
                "optimizer_name": _optimizer_name(trainer, member, single),
                "lr_scheduler_state": schedule.state_dict(),
                "num_updates": trainer.get_num_updates(),
            }
        ],
        "task_state": trainer.task.state_dict(),
        "extra_state": {"train_iterator": train_iterator, "val_loss": None, "identity": identity},
        "last_optimizer_state": _on_cpu(trainer.optimizer.member_state(member)),
    }


def write_checkpoint(state: dict[str, Any], path: Path) -> None:
    """Write a member's checkpoint, which appears whole or not at all, and then its checksum."""
    remove_checksum(path)
    with naming(path):
        checkpoint_utils.torch_persistent_save(state, str(path))
    write_checksum(path)


def load_members(trainer: Trainer, folders: Sequence[RunFolder], epoch: int) -> dict[str, Any]:
    """Load the members' checkpoints of an epoch into the array, and return the position in the data."""
    state: dict[str, Any] = {}
    for member, folder in enumerate(folders):
        path = folder.saved.of_epoch(epoch)
        state = load(path)
        refuse_other_run(path, state["extra_state"], folder.identity)
        with resuming(path):
            history = state["optimizer_history"][-1]
            refuse_other_update(path, folder, history["num_updates"])
            load_member_model(trainer.model, member, state["model"])
            trainer.optimizer.load_member_state(member, state["last_optimizer_state"])
            trainer.lr_scheduler.members[member].load_state_dict(history["lr_scheduler_state"])
    trainer.set_num_updates(state["optimizer_history"][-1]["num_updates"])
    return state["extra_state"]["train_iterator"]


def _optimizer_name(trainer: Trainer, member: int, single: DictConfig) -> str:
    """Return the name of the optimizer class that a run of its own has: in bf16 the class that wraps it."""
    return "FP16Optimizer" if single.common.bf16 else type(trainer.optimizer.members[member]).__name__


def member_model(model: torch.nn.Module, member: int) -> dict[str, torch.Tensor]:
    """Return the state of a member as that of a single model, on the CPU."""
    return _on_cpu(_views(model, member))


@torch.no_grad()
def load_member_model(model: torch.nn.Module, member: int, state: dict[str, torch.Tensor]) -> None:
    """Load the state of a single model into a member, the reverse of :func:`member_model`.

    Raises:
        ValueError: for a parameter of another shape, of which ``copy_`` would repeat a row or a number.
    """
    for name, tensor in _views(model, member).items():
        if state[name].shape != tensor.shape:
            raise ValueError(f"{name} is {tuple(state[name].shape)}, not {tuple(tensor.shape)}")
        tensor.copy_(state[name])


def _views(model: torch.nn.Module, member: int) -> dict[str, torch.Tensor]:
    """Return views of a member's part of the array's state. Buffers are shared by all members."""
    stacked = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return {
        name: tensor.detach()[member] if name in stacked else tensor.detach()
        for name, tensor in model.state_dict().items()
    }


def _on_cpu(state: Any) -> Any:
    """Copy the tensors of a nested state to the CPU, so that the arrays they are parts of are not saved with them."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _on_cpu(value) for key, value in state.items()}
    return state
