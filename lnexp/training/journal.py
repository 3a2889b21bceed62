"""What a run leaves as it goes: records in its folder and in wandb, and a line an epoch for who looks on."""

from omegaconf import DictConfig

from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.tracking.tracker import Tracker
from lnexp.training.console import Clock, epoch_line, say
from lnexp.training.ranks import ALONE, Ranks


class Journal:
    """Of one run; a context manager. Of its processes only the first one writes."""

    def __init__(self, cfg: DictConfig, folder: RunFolder, first_epoch: int, ranks: Ranks = ALONE):
        self.cfg, self.folder = cfg, folder
        self._tracker = Tracker(cfg, folder) if ranks.leads else None
        self._clock = Clock(first_epoch, cfg.max_epoch)

    def __enter__(self) -> "Journal":
        if self._tracker:
            self._tracker.__enter__()
        return self

    def add(self, record: Record) -> None:
        """Write a record, of a probe, an epoch or the end."""
        if not self._tracker:
            return
        self.folder.append(record)
        self._tracker.log(record)
        if record["kind"] == "epoch":
            left = self._clock.seconds_left(record["epoch"])
            say(f"{self.folder.name} | {epoch_line(record, self.cfg.max_epoch, left)}")

    def __exit__(self, *error: object) -> None:
        if self._tracker:
            self._tracker.__exit__(*error)
