"""Decide which checkpoints a run keeps while it trains, and which when it is over."""

from omegaconf import DictConfig

from lnexp.runs.folder import RunFolder

#: The newest checkpoints that a run keeps while it trains: one to resume from, and one in case that is damaged.
NEWEST = 2


def keep_while_training(folder: RunFolder, cfg: DictConfig) -> None:
    """Delete the checkpoints that neither a resume nor the test will need, unless ``checkpoints.keep`` is ``all``."""
    newest = None if cfg.checkpoints.keep == "all" else most_newest(cfg)
    folder.prune(newest, best=True)


def keep_for_good(folder: RunFolder, cfg: DictConfig) -> None:
    """Delete the checkpoints that ``checkpoints.keep`` does not ask for, when the run is over."""
    folder.prune(None if cfg.checkpoints.keep == "all" else 1, best=cfg.checkpoints.keep == "best_and_last")


def checkpoints_for_good(cfg: DictConfig, epochs: int) -> int:
    """Return how many checkpoints a run of so many epochs has at most when it is over."""
    return {"all": epochs, "best_and_last": min(2, epochs), "last": 1}[cfg.checkpoints.keep]


def most_newest(cfg: DictConfig) -> int:
    """Return how many of the newest checkpoints a run keeps while it trains, enough for the average that is tested."""
    return max(NEWEST, cfg.evaluation.average_last)


def epochs_to_average(folder: RunFolder, cfg: DictConfig) -> list[int]:
    """Return the epochs among the last ``evaluation.average_last`` that have a checkpoint, oldest first."""
    first = folder.saved.last_epoch() - cfg.evaluation.average_last
    return [epoch for epoch in folder.saved.epochs() if epoch > first]
