"""Find the checkpoint of a run of a recipe that was trained before, for measurements of trained models."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnexp.configuration import compose
from lnexp.errors import UserError, near_names
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Job
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import identity
from lnexp.tasks import task_of
from lnexp.theory.checkpoint import model_and_task
from lnexp.theory.measurement import Context


@dataclass(frozen=True)
class TrainedRun:
    """A run that is over, at the checkpoint that was tested.

    Attributes:
        identity: of the run.
        model: fairseq's, in evaluation mode.
        task: fairseq's, on the run's corpus; no split is loaded.
        data: the name of the corpus.
    """

    identity: str
    model: Any
    task: Any
    data: str

    @classmethod
    def of(cls, context: Context, recipe: str, profile: str, arm: str) -> "TrainedRun":
        """Return the run of an arm of a recipe with the context's seed, on the context's corpus.

        Raises:
            UserError: for an unknown recipe, profile or arm, or a run that is not trained or has lost its checkpoint.
        """
        loaded = load_recipe(recipe)
        if arm not in loaded.arms:
            raise UserError(f"run.arm={arm}: recipe {recipe} has none; {near_names(arm, loaded.arms)}")
        loaded.setting_at(profile)
        job = Job(loaded, profile, loaded.arms[arm], context.seed)
        cfg = compose([f"profile={profile}", *job.overrides, *context.overrides])
        name = identity(cfg)
        checkpoint = _tested(find_folders(cfg.runs_dir).get(name), f"{recipe}/{arm}, seed {context.seed}", recipe)
        task, model, _ = model_and_task(checkpoint, task_of(cfg).prepare(cfg.data, cfg.data_dir).bin)
        return cls(name, model.eval(), task, str(cfg.data.name))


def _tested(path: Path | None, what: str, recipe: str) -> Path:
    """Return the checkpoint of a run whose test its last record has. Raises UserError where there is none."""
    train = f"python scripts/train.py -m +recipe={recipe}"
    if path is None:
        raise UserError(f"{what}: not trained; {train} trains it, runs_dir=… says where runs lie")
    folder = RunFolder(path)
    ends = records.of_kind("end", records.read(folder.metrics))
    epoch = ends[-1].get("checkpoint_epoch") if ends else None
    if epoch is None or epoch not in folder.checkpoint_epochs():
        raise UserError(f"{what}: {folder.name} has no checkpoint that was tested; {train} force=true trains it again")
    return folder.checkpoint(epoch)
