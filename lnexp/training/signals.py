"""Being told to stop, as SLURM, torchrun and ``kill`` do before they take a process away."""

import signal
import threading
import time
from types import FrameType
from typing import Any

#: SLURM's SIGTERM before it preempts; SIGUSR1, or submitit's SIGUSR2, before a job's time is up.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)

#: SLURM and torchrun both tell each process of a job, so that a signal comes twice: that is one notice.
PATIENCE = 25.0


class Notice:
    """Keeps signals back until a run has saved its state, then hands them on; a context manager.

    Handed on, a signal does what it would have done: end the process, or have submitit queue its job again. One that
    comes again after :data:`PATIENCE` seconds does not wait. Outside the main thread, where Python knows no signals,
    none is kept back.

    Attributes:
        pending: the signals that were received and not yet handed on.
    """

    def __init__(self) -> None:
        self.pending: list[signal.Signals] = []
        self._before: dict[signal.Signals, Any] = {}
        self._since = 0.0

    def __enter__(self) -> "Notice":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._keep) or signal.SIG_DFL for number in SIGNALS}
        return self

    def _keep(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self._since = self._since if self.pending else now
        self.pending.append(signal.Signals(number))
        if now - self._since > PATIENCE:
            self.hand_on()

    def hand_on(self) -> None:
        """Give the signals to whom they were for; comes back where they are ignored there."""
        pending, self.pending = dict.fromkeys(self.pending), []
        for number in pending:
            signal.signal(number, self._before[number])
            signal.raise_signal(number)
            signal.signal(number, self._keep)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None or issubclass(kind, FloatingPointError):  # any other error ends the process, too, and says why
            for number in dict.fromkeys(self.pending):
                signal.raise_signal(number)
