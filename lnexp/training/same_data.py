"""Say whether a run can be resumed on the text and with the numerics that it was trained with so far."""

from typing import Any

from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.runs.environment import other_data, other_numerics
from lnexp.runs.folder import RunFolder
from lnexp.tasks import task_of


def on_other_data(cfg: DictConfig, folder: RunFolder) -> str:
    """Describe how the text or the numerics that a run was trained with differ from the current ones; empty where they
    do not.

    Args:
        cfg: the resolved config that it is to be resumed with; its corpus is prepared where it is missing.
        folder: the run's.

    Raises:
        UserError: where the corpus cannot be prepared, or ``environment.json`` is malformed.
    """
    return other_numerics(folder.environment) or other_data(folder.environment, _manifest(cfg))


def _manifest(cfg: DictConfig) -> dict[str, Any]:
    task = task_of(cfg)
    try:
        return task.manifest(cfg.data, cfg.data_dir)  # the files are checked once, before training
    except UserError:
        manifest: dict[str, Any] = task.prepare(cfg.data, cfg.data_dir).manifest
        return manifest
