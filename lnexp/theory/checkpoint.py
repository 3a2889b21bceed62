"""Load a trained model from its checkpoint, with minibatches to probe it."""

from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from fairseq import checkpoint_utils
from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.safe_loading import load, making_a_model
from lnexp.theory.models import ProbedModel


def trained_model(path: Path, bin_dir: Path | None, cfg: DictConfig, reordered: bool = False) -> ProbedModel:
    """Return the model of a checkpoint, with minibatches of its training data.

    Args:
        path: a checkpoint of a run of ours, or of stock fairseq's translation task.
        bin_dir: the prepared corpus; None takes the one that the checkpoint names.
        cfg: our config, for the number and the size of minibatches.
        reordered: whether they are in the order of ``cfg.order_seed``, and not in that of the run's first epoch.

    Raises:
        UserError: for a file that is no checkpoint, is cut short, was never trained, does not fit the corpus, or whose
            corpus or loss is missing; or where there are fewer minibatches.
    """
    task, model, saved = model_and_task(path, bin_dir)
    if reordered and hasattr(task.cfg, "order_seed"):
        task.cfg.order_seed = cfg.order_seed
    probed = ProbedModel.of(task, model, saved.criterion, cfg)
    if probed.criterion is None:
        raise UserError(f"{path}: does not say which loss it was trained with")
    return probed


def model_and_task(path: Path, bin_dir: Path | None) -> tuple[Any, Any, Any]:
    """Return fairseq's task of a checkpoint, its model, and the config that it was saved with.

    Args:
        path: a checkpoint of a run of ours, or of stock fairseq's translation task.
        bin_dir: the prepared corpus; None takes the one that the checkpoint names.

    Raises:
        UserError: as :func:`trained_model` does.
    """
    state = _state(path)
    saved = state["cfg"]
    if bin_dir is not None:
        saved.task.data = str(bin_dir)
    if not Path(str(saved.task.data)).is_dir():
        raise UserError(f"{path}: its corpus is no longer at {saved.task.data}; set data=…")
    with making_a_model(path):
        (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
    return task, model, saved


def _state(path: Path) -> dict[str, Any]:
    """Return the contents of a fairseq checkpoint. Raises UserError for a file that is none, or was never trained."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if not is_zipfile(path):
        raise UserError(f"{path}: no checkpoint, or a truncated one")
    try:
        state = load(path)
        updates, _ = state["optimizer_history"][-1]["num_updates"], state["cfg"]["task"]["data"]
    except UserError:
        raise
    except Exception as error:  # other archives, and damaged checkpoints
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"{path}: not a checkpoint of fairseq ({what})") from error
    if not updates:
        raise UserError(f"{path}: was never updated; probe a model before training with model=…")
    return state
