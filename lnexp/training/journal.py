"""Write a run's records to its folder and to wandb, and a line an epoch to the terminal."""

from lnexp.runs.length import Length
from lnexp.runs.records import Record
from lnexp.tasks.contract import Member
from lnexp.tracking.tracker import Tracker
from lnexp.training.console import Clock, epoch_line, say
from lnexp.training.ranks import ALONE, Ranks


class Journal:
    """The records of one run; a context manager. Of several processes only the leading one writes."""

    def __init__(self, member: Member, first_epoch: int, ranks: Ranks = ALONE):
        self.member = member
        self._tracker = Tracker(member.cfg, member.folder) if ranks.leads else None
        self._clock = Clock(Length.of(member.cfg), first_epoch)

    def __enter__(self) -> "Journal":
        if self._tracker:
            self._tracker.__enter__()
        return self

    def add(self, record: Record) -> None:
        """Write a record, of a probe, an epoch or the end."""
        if not self._tracker:
            return
        self.member.folder.append(record)
        self._tracker.log(record)
        if record["kind"] == "epoch":
            left = self._clock.seconds_left(record["epoch"], record["update"])
            say(epoch_line(self.member, record, left))

    def __exit__(self, *error: object) -> None:
        if self._tracker:
            self._tracker.__exit__(*error)
