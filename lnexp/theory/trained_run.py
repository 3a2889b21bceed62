"""Find a run of a recipe that was trained before, for measurements of trained models."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.recipes.command_line import for_readers
from lnexp.recipes.jobs import Job
from lnexp.recipes.measured_run import measured_arm
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import identity
from lnexp.tasks import task_of
from lnexp.theory.measurement import Context


@dataclass(frozen=True)
class TrainedRun:
    """A run of an arm of a recipe.

    Attributes:
        cfg: its config.
        folder: where it lies.
        what: names recipe, arm and seed in messages.
        train: the command that trains it.
    """

    cfg: DictConfig
    folder: RunFolder
    what: str
    train: str

    @classmethod
    def of(cls, context: Context, run: Mapping[str, Any]) -> "TrainedRun":
        """Return the run with the context's seed, on the context's corpus.

        Args:
            context: seed and corpus.
            run: ``recipe``, ``profile`` and ``arm``, as :func:`lnexp.recipes.measured_run.measured_arm` takes them.

        Raises:
            UserError: for an unknown recipe, profile or arm, or a run that is not trained.
        """
        recipe, arm = measured_arm(run)
        if "profile" not in run:
            raise UserError("run.profile: not set")
        recipe.setting_at(run["profile"])
        job = Job(recipe, run["profile"], arm, context.seed)
        cfg = compose([f"profile={job.profile}", *job.overrides, *context.overrides])
        what = f"{recipe.name}/{arm.name}, seed {job.seed}"
        only = [f"profile={job.profile}", f"arms=[{arm.name}]", f"first_seed={job.seed}", "n_seeds=1"]
        corpus = [option for option in context.overrides if key_of(option) not in ("arms", "first_seed", "n_seeds")]
        words = [f"+recipe={recipe.shown_reference}", *only, *for_readers(corpus)]
        train = f"python scripts/train.py -m {shlex.join(words)}"
        path = find_folders(cfg.runs_dir).get(identity(cfg))
        if path is None:
            raise UserError(f"{what}: not trained; {train} trains it, runs_dir=… says where runs lie")
        return cls(cfg, RunFolder(path), what, train)

    @property
    def identity(self) -> str:
        """The identity of the run."""
        return self.folder.identity

    @property
    def data(self) -> str:
        """The name of its corpus."""
        return str(self.cfg.data.name)

    def prepared(self) -> Path:
        """Return its corpus, which is prepared where it is not there."""
        return Path(task_of(self.cfg).prepare(self.cfg.data, self.cfg.data_dir).bin)

    def tested_checkpoint(self) -> Path:
        """Return the checkpoint that was tested. Raises UserError where the run is not over, or has lost it."""
        epoch = self._end().get("checkpoint_epoch")
        if epoch is None or epoch not in self.folder.saved.epochs():
            raise UserError(f"{self.what}: has no checkpoint that was tested; {self.train} force=true trains it again")
        return self.folder.saved.of_epoch(epoch)

    def every_checkpoint(self) -> dict[int, Path]:
        """Return the checkpoint of every epoch by the number of updates made.

        Raises:
            UserError: where the run is not over, or has lost one.
        """
        self._end()
        updates = {record["epoch"]: record["update"] for record in self.folder.epochs()}
        if updates.keys() - set(self.folder.saved.epochs()):
            how = f"{self.train} checkpoints.keep=all force=true trains it again and keeps them"
            raise UserError(f"{self.what}: has not every epoch's checkpoint; {how}")
        return {update: self.folder.saved.of_epoch(epoch) for epoch, update in updates.items()}

    def _end(self) -> dict[str, Any]:
        """Return its last record. Raises UserError where the run is not over."""
        ends = records.of_kind("end", records.read(self.folder.metrics))
        if not ends:
            raise UserError(f"{self.what}: is not over; {self.train} goes on with it")
        return ends[-1]
