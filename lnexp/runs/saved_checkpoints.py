"""The checkpoint files of one run: those of whole epochs, and those within an epoch."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from lnexp.runs.checksum import delete, has_checksum, is_archive, is_whole, write_checksum

_EPOCH, _UPDATE = "[1-9][0-9]{0,8}", "[1-9][0-9]{0,11}"
#: Names of the checkpoints after an epoch and within one.
OF_EPOCH = re.compile(rf"checkpoint(?P<epoch>{_EPOCH})\.pt")
WITHIN_EPOCH = re.compile(rf"checkpoint_(?P<epoch>{_EPOCH})_(?P<update>{_UPDATE})\.pt")
#: Names of both, for names that are made of them.
SAVED = rf"checkpoint({_EPOCH}|_{_EPOCH}_{_UPDATE})\.pt"
CHECKSUM = re.compile(rf"{SAVED}\.sha256")
#: fairseq's copy of the best one.
BEST = "checkpoint_best.pt"


class SavedCheckpoints:
    """The checkpoints in a folder.

    Args:
        folder: where they lie; files with other names are not theirs, and stay.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def of_epoch(self, epoch: int) -> Path:
        """Return the path of the checkpoint after an epoch."""
        return self.folder / f"checkpoint{epoch}.pt"

    def within(self, epoch: int, update: int) -> Path:
        """Return the path of a checkpoint within an epoch, named as fairseq names it."""
        return self.folder / f"checkpoint_{epoch}_{update}.pt"

    def epochs(self) -> list[int]:
        """Return the epochs that have a complete checkpoint, in order.

        A file that was cut short does not count. Checksums are compared by :meth:`mend` alone.
        """
        return [epoch for epoch, path in sorted(self._of_epochs().items()) if is_archive(path)]

    def last_epoch(self) -> int:
        """Return the epoch of the newest checkpoint after one; 0 where there is none."""
        return max(self.epochs(), default=0)

    def last_update_within(self) -> int:
        """Return the update of the newest checkpoint within the epoch that follows the last complete one, or 0."""
        now = self.last_epoch() + 1
        return max((update for epoch, update in self._within_epochs() if epoch == now), default=0)

    def newest(self) -> Path | None:
        """Return the checkpoint that training is resumed from; None where it starts from scratch."""
        epoch, update = self.last_epoch(), self.last_update_within()
        if update:
            return self.within(epoch + 1, update)
        return self.of_epoch(epoch) if epoch else None

    def keep_epochs(self, kept: Collection[int]) -> None:
        """Delete the checkpoints of other epochs."""
        for epoch, path in self._of_epochs().items():
            if epoch not in kept:
                delete(path)

    def keep_newest_within(self) -> None:
        """Delete the checkpoints within epochs but for the one that training is resumed from."""
        newest = self.newest()
        for path in self._within_epochs().values():
            if path != newest:
                delete(path)

    def drop_after(self, epoch: int, update: int) -> None:
        """Delete those after ``epoch``, and those within epochs but for the one at ``update`` within the next."""
        for later, path in self._of_epochs().items():
            if later > epoch:
                delete(path)
        for place, path in self._within_epochs().items():
            if place != (epoch + 1, update):
                delete(path)

    def drop_since_end_of(self, epoch: int) -> list[Path]:
        """Delete and return those that were saved at the end of an epoch or later."""
        later = [path for after, path in self._of_epochs().items() if after >= epoch]
        later += [path for (within, _), path in self._within_epochs().items() if within > epoch]
        for path in later:
            delete(path)
        return later

    def mend(self) -> list[Path]:
        """Delete what a kill, a full disk or a broken disk has damaged, and checksums of nothing, and write the
        checksums of whole checkpoints that a kill right after saving left without.

        Returns:
            The damaged checkpoints.
        """
        damaged = []
        for path in (*self._of_epochs().values(), *self._within_epochs().values()):
            if not is_whole(path):
                delete(path)
                damaged.append(path)
            elif not has_checksum(path):
                write_checksum(path)
        self.drop_lone_checksums()
        return damaged

    def drop_lone_checksums(self) -> None:
        """Delete the checksums of checkpoints that are gone, as a kill between the deletions of the two leaves them."""
        for _, digest in self._named(CHECKSUM):
            if not digest.with_suffix("").exists():
                digest.unlink(missing_ok=True)

    def _of_epochs(self) -> dict[int, Path]:
        """Return the files of epochs, complete or not."""
        return {int(found["epoch"]): path for found, path in self._named(OF_EPOCH)}

    def _within_epochs(self) -> dict[tuple[int, int], Path]:
        """Return the files within epochs, by epoch and update."""
        return {(int(found["epoch"]), int(found["update"])): path for found, path in self._named(WITHIN_EPOCH)}

    def _named(self, form: re.Pattern[str]) -> Iterator[tuple[re.Match[str], Path]]:
        """Yield the files whose names have a form, each with its match: others are not ours."""
        for path in self.folder.glob("*"):
            if (found := form.fullmatch(path.name)) and path.is_file():
                yield found, path
