"""The models of an array of runs, stacked into one; each member has its checkpoints as a run of its own has them."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from omegaconf import DictConfig

from lnexp.runs.checkpoint_retention import keep_while_training
from lnexp.runs.common_epoch import common_epoch
from lnexp.training.models.array_checkpoints import load_member_model, load_members, member_checkpoint, write_checkpoint
from lnexp.training.models.array_config import as_array
from lnexp.training.models.base import Abilities, Losses, Models


class ArrayModels(Models):
    """The members of an array.

    All see the same batches in the same order. A member whose gradients stop being finite is frozen, and the others
    are trained on.
    """

    abilities = Abilities(
        "an array",
        precisions=("fp32", "bf16"),
        processes=False,
        probe_precisions=(),
        in_array=True,
    )
    stacked = True
    update_meters = ("member_loss", "member_gnorm")

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._writing: dict[int, Future] = {}  # the checkpoint of the last epoch, by member

    @classmethod
    def fairseq_config(cls, singles: Sequence[DictConfig], precision: str) -> DictConfig:
        return as_array(singles, precision)

    @staticmethod
    def schedule_options(fairseq: DictConfig) -> list[DictConfig]:
        return list(fairseq.lr_scheduler.members)

    def schedule(self, member: int) -> Any:
        return self.trainer.lr_scheduler.members[member]

    def restore(self) -> Any:
        folders = [member.folder for member in self.members]
        epoch = common_epoch(folders)
        if not epoch:
            batches = self.trainer.get_train_iterator(1, load_dataset=True)
        else:
            position = load_members(self.trainer, folders, epoch)
            batches = self.trainer.get_train_iterator(position["epoch"], load_dataset=True)
            batches.load_state_dict(position)
        self.trainer.lr_step(batches.epoch)
        return batches

    def losses(self, valid: Any, train: Any) -> list[Losses]:
        meters = valid["member_loss"], valid["member_nll"], train["member_loss"], train["member_gnorm"]
        return [Losses(*of_member) for of_member in zip(*(meter.avg.tolist() for meter in meters), strict=True)]

    @property
    def frozen(self) -> Mapping[int, int]:
        return self.trainer.optimizer.frozen

    def freeze(self, member: int) -> None:
        self.trainer.optimizer.frozen[member] = self.trainer.get_num_updates()

    @property
    def record_fields(self) -> dict[str, Any]:
        return {"members": len(self.members)}

    @contextmanager
    def saving(self) -> Iterator[None]:
        with ThreadPoolExecutor(self.members[0].cfg.threads) as self._writers:  # waited for, after an error too
            yield
            self.finish_saving()

    def save(self, epoch: int, members: Sequence[int], batches: Any) -> None:
        """Begin to write every checkpoint: for many members a disk takes as long as a GPU does for an epoch."""
        position = batches.state_dict()
        for member in members:
            folder = self.members[member].folder
            state = member_checkpoint(self.trainer, member, self.singles[member], position, folder.identity)
            self._writing[member] = self._writers.submit(write_checkpoint, state, folder.saved.of_epoch(epoch))

    def finish_saving(self) -> None:
        """Wait for every checkpoint before any older one is dropped: all members then have one epoch in common."""
        written, self._writing = self._writing, {}
        for future in written.values():
            future.result()  # raises what went wrong
        for member in written:
            keep_while_training(self.members[member].folder, self.members[member].cfg)

    def loadable_together(self, epochs: Mapping[int, int]) -> Iterator[Mapping[int, int]]:
        """Yield the members of each epoch alone where the model depends on the number of updates.

        That number is a buffer, and members have their buffers in common.
        """
        if not self.model.changes_with_updates:
            yield epochs
            return
        for epoch in dict.fromkeys(epochs.values()):
            yield {number: its_epoch for number, its_epoch in epochs.items() if its_epoch == epoch}

    def load(self, member: int, state: dict[str, Any]) -> None:
        load_member_model(self.model, member, state)
