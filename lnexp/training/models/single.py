"""The model of a single run, which fairseq trains and saves by itself."""

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.runs.checkpoint_retention import keep_while_training
from lnexp.safe_loading import refuse_other_run
from lnexp.training.models.base import Abilities, Losses, Models, StopsWithinEpoch
from lnexp.training.models.resuming import refuse_other_update, resuming

#: A file that nobody can make, for fairseq to restore nothing from.
NO_FILE = f"{os.devnull}/none"


class SingleModel(Models, StopsWithinEpoch):
    """One run's model."""

    abilities = Abilities(
        "a single run",
        precisions=("fp32", "bf16", "fp16"),
        processes=True,
        probe_precisions=("fp32", "bf16"),
    )
    stacked = False
    update_meters = ("loss", "gnorm")

    @classmethod
    def fairseq_config(cls, singles: Sequence[DictConfig], precision: str) -> DictConfig:
        (single,) = singles
        return single

    @staticmethod
    def schedule_options(fairseq: DictConfig) -> list[DictConfig]:
        return [fairseq.lr_scheduler]

    def schedule(self, member: int) -> Any:
        return self.trainer.lr_scheduler

    def restore(self) -> Any:
        newest = self.ranks.first(self.members[0].folder.saved.newest)
        checkpoint = _restoring(self.trainer.cfg.checkpoint, newest)
        start = "" if checkpoint.restore_file == NO_FILE else checkpoint.restore_file
        if start and not Path(start).exists():
            raise UserError(f"{start}: no such file")  # fairseq would train from scratch
        folder = self.members[0].folder
        self.trainer.identity = folder.identity
        with resuming(Path(start)):
            state, batches = checkpoint_utils.load_checkpoint(checkpoint, self.trainer)
        if newest:
            refuse_other_run(newest, state, folder.identity)
            refuse_other_update(newest, folder, self.trainer.get_num_updates())
        place = self.trainer.get_num_updates(), batches.epoch, batches.iterations_in_epoch
        places = self.ranks.gather(place)
        if len(set(places)) > 1:
            raise RuntimeError(f"the processes of this run do not see one checkpoint: update, epoch and batch {places}")
        return batches

    def losses(self, valid: Any, train: Any) -> list[Losses]:
        nll = valid["nll_loss" if "nll_loss" in valid else "loss"]  # a loss that is not smoothed is the nll itself
        means = (meter.avg for meter in (valid["loss"], nll, train["loss"], train["gnorm"]))
        return [Losses(*map(float, means))]

    def save(self, epoch: int, members: Sequence[int], batches: Any) -> None:
        """Do nothing: fairseq saves after the validation of an epoch."""

    def save_unfinished(self, epoch: int, batches: Any) -> None:
        (member,) = self.members
        path = member.folder.saved.of_epoch(epoch)
        if self.ranks.leads and not path.exists():
            self.save_within_epoch(path, batches)
            keep_while_training(member.folder, member.cfg)

    def save_within_epoch(self, path: Path, batches: Any) -> None:
        """Save a checkpoint of this moment; rank 0 writes it, with fairseq's iterator ``batches``."""
        self.trainer.consolidate_optimizer()
        self.trainer.save_checkpoint(str(path), {"train_iterator": batches.state_dict(), "val_loss": None})

    def load(self, member: int, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state, strict=True, model_cfg=self.trainer.cfg.model)


def _restoring(checkpoint: DictConfig, newest: Path | None) -> DictConfig:
    """Return fairseq's options of checkpoints that restore a run from its newest one, or else where they say.

    fairseq itself would prefer a ``checkpoint_last.pt``, which is none of the run's.
    """
    restoring = copy.deepcopy(checkpoint)
    restoring.finetune_from_model = None
    restoring.restore_file = str(newest or checkpoint.finetune_from_model or NO_FILE)
    if not newest and checkpoint.finetune_from_model:  # the weights alone, as fairseq's own option takes them
        for part in ("optimizer", "lr_scheduler", "meters", "dataloader"):
            restoring[f"reset_{part}"] = True
    return restoring
