"""Models as their checkpoints have them."""

from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from fairseq import checkpoint_utils
from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.theory.models import Probed


def trained(path: Path, bin_dir: Path | None, cfg: DictConfig) -> Probed:
    """The model of a checkpoint, and minibatches of the training data.

    Args:
        path: of a run of ours, or of stock fairseq's translation task.
        bin_dir: the prepared corpus; None takes the one that the checkpoint names.
        cfg: our config, which says how many minibatches of which size.

    Raises:
        UserError: for a file that is no checkpoint, is cut short, was never trained, does not fit the corpus, or whose
            corpus is not there any more; or where there are fewer minibatches.
    """
    state = _state(path)
    saved = state["cfg"]
    if bin_dir is not None:
        saved.task.data = str(bin_dir)
    if not Path(saved.task.data).is_dir():
        raise UserError(f"{path}: its corpus is not at {saved.task.data} any more; say data=…")
    try:
        (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
    except RuntimeError as error:  # torch's, of parameters whose shape or name is another
        what = "another vocabulary" if "size mismatch" in str(error) else str(error).splitlines()[-1].strip()
        raise UserError(f"{path}: does not fit the corpus at {saved.task.data}: {what}") from error
    return Probed.of(task, model, saved.criterion, cfg)


def _state(path: Path) -> dict[str, Any]:
    """fairseq's checkpoint, as it is saved."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if not is_zipfile(path):
        raise UserError(f"{path}: no checkpoint, or one that was cut short")
    try:
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path))
        updates, _ = state["optimizer_history"][-1]["num_updates"], state["cfg"]["task"]["data"]
    except Exception as error:  # of whatever else is an archive, and of a damaged one
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"{path}: no checkpoint of fairseq's ({what})") from error
    if not updates:
        raise UserError(f"{path}: has no update behind it; a model before training is probed by model=…")
    return state
