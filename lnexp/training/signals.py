"""Defer termination signals until a run has saved its state."""

import signal
import threading
import time
from types import FrameType
from typing import Any

from lnexp.training.ranks import ALONE, Ranks, is_lost

#: SLURM's SIGTERM before it preempts; SIGUSR1, or submitit's SIGUSR2, before a job's time is up.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)

#: SLURM and torchrun both signal every process of a job. A second signal within this time is a duplicate of the first.
DUPLICATE_SECONDS = 25.0


class DeferredSignals:
    """Context manager that holds termination signals back until they are delivered.

    A delivered signal does what it would have done at once: end the process, or have submitit queue its job again. A
    signal that is repeated after :data:`DUPLICATE_SECONDS` is delivered immediately. Outside the main thread, where
    Python handles no signals, none is deferred.

    Where another process of the run was lost, signals are held back for good, for the process then ends by itself.

    Args:
        ranks: the processes that train together.

    Attributes:
        pending: the signals that were received and not yet delivered.
    """

    def __init__(self, ranks: Ranks = ALONE) -> None:
        self._ranks = ranks
        self.pending: list[signal.Signals] = []
        self._before: dict[signal.Signals, Any] = {}
        self._since = 0.0

    def __enter__(self) -> "DeferredSignals":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._defer) or signal.SIG_DFL for number in SIGNALS}
        return self

    def _defer(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self._since = self._since if self.pending else now
        self.pending.append(signal.Signals(number))
        if now - self._since > DUPLICATE_SECONDS:
            self.deliver()

    def deliver(self) -> None:
        """Raise the pending signals with their original handlers; return where those ignore them."""
        pending, self.pending = dict.fromkeys(self.pending), []
        for number in pending:
            signal.signal(number, self._before[number])
            signal.raise_signal(number)
            signal.signal(number, self._defer)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._ranks.size > 1 and error is not None and is_lost(error):
            return  # torchrun signals the processes that remain; this one says first why it ends
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None:  # an error ends the process, too, and says why
            for number in dict.fromkeys(self.pending):
                signal.raise_signal(number)
