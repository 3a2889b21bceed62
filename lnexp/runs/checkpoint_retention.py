"""Which checkpoints a run keeps while it trains, and which when it is over."""

from omegaconf import DictConfig

from lnexp.runs.folder import RunFolder

#: Of the newest, while it trains: one to fall back on.
NEWEST = 2


def keep_while_training(folder: RunFolder, cfg: DictConfig) -> None:
    """Drop the checkpoints that neither going on nor the test will need, unless ``checkpoints.keep`` is ``all``."""
    newest = None if cfg.checkpoints.keep == "all" else most_newest(cfg)
    folder.prune(newest, best=True)


def keep_for_good(folder: RunFolder, cfg: DictConfig) -> None:
    """Drop those that ``checkpoints.keep`` does not ask for."""
    folder.prune(None if cfg.checkpoints.keep == "all" else 1, best=cfg.checkpoints.keep == "best_and_last")


def most_newest(cfg: DictConfig) -> int:
    """How many of the newest a run keeps while it trains: those whose average is tested among them."""
    return max(NEWEST, cfg.evaluation.average_last)


def epochs_to_average(folder: RunFolder, cfg: DictConfig) -> list[int]:
    """Those of the last ``evaluation.average_last`` epochs that have a checkpoint, oldest first."""
    first = folder.last_checkpoint_epoch() - cfg.evaluation.average_last
    return [epoch for epoch in folder.checkpoint_epochs() if epoch > first]
