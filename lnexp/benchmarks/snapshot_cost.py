"""Measure how much snapshots along training (``diagnostics.at=log``) slow it, alone and in an array."""

import itertools
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnexp.benchmarks.page import markdown
from lnexp.benchmarks.stock import SAME_BATCHES, engine_of
from lnexp.configuration import check_and_resolve, compose
from lnexp.runs.records import append

if TYPE_CHECKING:
    from lnexp.training.engine import Engine

MEMBERS = (1, 12)
ROUNDS = 30
#: Of a run at profile ``small``.
UPDATES = 480
SETTINGS = ("model=post_ln", "tracker=none", "order_seed=1", *SAME_BATCHES)


def table(overrides: list[str]) -> str:
    """Return the CPU time of a snapshot in updates, and how much snapshots slow a training, as a Markdown table."""
    from lnexp.runs.snapshot_updates import is_due

    taken = sum(is_due("log", update) for update in range(1, UPDATES + 1))
    rows = []
    for members in MEMBERS:
        cost = _updates_per_snapshot(members, overrides)
        rows.append([str(members), f"{cost:.2f}", f"{100 * cost * taken / UPDATES:.1f}%"])
    return markdown(("members", "a snapshot, in updates", f"slower, {taken} snapshots in {UPDATES} updates"), rows)


def _updates_per_snapshot(members: int, overrides: list[str]) -> float:
    """Return the CPU time that a snapshot adds to an update, in updates: the median over pairs on the same batch."""
    rates = [f"lr_max={1e-3 * (1 + member / members)}" for member in range(members)]
    cfgs = [check_and_resolve(compose([*SETTINGS, *overrides, rate])) for rate in rates]
    with engine_of(*cfgs, in_array=members > 1) as engine, tempfile.TemporaryDirectory() as folder:
        batches = engine.trainer.get_train_iterator(1).next_epoch_itr(shuffle=False)
        timed = _Timed(engine, Path(folder) / "metrics.jsonl")
        pairs = [timed.pair(batch) for batch in itertools.islice(itertools.cycle(list(batches)), ROUNDS + 1)]
    return statistics.median(looked_at / plain - 1 for plain, looked_at in pairs[1:])  # the first one warms up


class _Timed:
    """Updates of an engine, with a snapshot or without, and their CPU seconds."""

    def __init__(self, engine: "Engine", path: Path):
        from lnexp.training.diagnostic import Watched
        from lnexp.training.snapshots import Snapshots

        self.engine, self.path, self.even = engine, path, True
        watched = Watched.of(engine.models, engine.criterion, fixed_batch=dict)
        self.none, self.every = Snapshots((), watched), Snapshots(range(1, 10**6), watched)

    def pair(self, batch: Any) -> tuple[float, float]:
        """Return the seconds of an update without a snapshot and of one with it, made in alternating order."""
        self.even = not self.even
        if self.even:
            return self._seconds(batch, self.none), self._seconds(batch, self.every)
        looked_at = self._seconds(batch, self.every)
        return self._seconds(batch, self.none), looked_at

    def _seconds(self, batch: Any, snapshots: Any) -> float:
        start, update = time.process_time(), self.engine.updates + 1
        snapshots.begin(update)
        self.engine.trainer.train_step([batch])
        for _, record in snapshots.records(1, update, range(len(self.engine.members))):
            append(self.path, record)
        return time.process_time() - start
