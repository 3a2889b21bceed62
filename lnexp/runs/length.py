"""Say how long a run is, and how much of it is done."""

from dataclasses import dataclass

from omegaconf import DictConfig


@dataclass(frozen=True)
class Length:
    """The end of a run: after so many epochs, or after so many updates where that is sooner.

    Attributes:
        max_epoch: the epochs.
        max_update: the updates; None where they set no limit.
    """

    max_epoch: int
    max_update: int | None = None

    @classmethod
    def of(cls, cfg: DictConfig) -> "Length":
        """Return the length of a config's run."""
        return cls(cfg.max_epoch, cfg.get("max_update"))

    def __str__(self) -> str:
        """Return ``8 epochs``, or ``300 updates, 8 epochs at most``."""
        if self.max_update is None:
            return f"{self.max_epoch} epochs"
        return f"{self.max_update} updates, {self.max_epoch} epochs at most"

    def endless_warmup(self, warmup_updates: int, epoch: int, update: int) -> str:
        """Return a warning where a warm-up will not end within the run, as its pace so far says; else nothing.

        Args:
            warmup_updates: the length of the warm-up.
            epoch: how many epochs are done, at least one.
            update: how many updates these took.
        """
        most = round(update / epoch * self.max_epoch)
        updates = min(most, self.max_update or most)
        if warmup_updates <= updates:
            return ""
        return f"warmup_updates={warmup_updates}: the warm-up never ends, the run has about {updates} updates"

    def words(self, epoch: int, update: int) -> str:
        """Return ``epoch 3/8``, or ``update 120/300`` where the run will end by its updates."""
        if self._ends_by_updates(epoch, update):
            return f"update {update}/{self.max_update}"
        return f"epoch {epoch:>{len(str(self.max_epoch))}}/{self.max_epoch}"

    def epochs_left(self, epoch: int, update: int, updates_an_epoch: float | None = None) -> float:
        """Return how many epochs are to come, a fraction where the run will end within one.

        Args:
            epoch: how many are done.
            update: how many updates these took.
            updates_an_epoch: of runs like it, for one that has not done an epoch; None where that is not known.
        """
        if self._ends_by_updates(epoch, update) and epoch:
            return max(0.0, epoch * (1 / self._share_of_updates(update) - 1))
        if not epoch and self.max_update and updates_an_epoch:
            return min(self.max_epoch, self.max_update / updates_an_epoch)
        return self.max_epoch - epoch

    def _share_of_updates(self, update: int) -> float:
        return update / self.max_update if self.max_update else 0.0

    def _ends_by_updates(self, epoch: int, update: int) -> bool:
        """Return whether updates are the nearer limit; before the first one, whether they are a limit at all."""
        if not update:
            return self.max_update is not None
        return self._share_of_updates(update) > epoch / self.max_epoch
