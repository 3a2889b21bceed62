"""What a corpus is made with: the machine's cores, a place for downloads, a word now and then on how far it is."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from lnexp.errors import UserError
from lnexp.processes import available_cores, end_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Off a terminal a step is worth a line if it took so many seconds.
WORTH_A_LINE = 5


@dataclass
class Workshop:
    """Where a corpus is prepared.

    Attributes:
        downloads: what is fetched lands here, and stays.
        mirror: a base address (http, https or a folder) that stands before every download's own; None: there is none.
        cores: processes that work at once.
    """

    downloads: Path
    mirror: str | None = None
    cores: int = field(default_factory=lambda: available_cores())  # of the moment it is made
    _pool: ProcessPoolExecutor | None = field(default=None, init=False)

    def __enter__(self) -> "Workshop":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results of a top-level ``function``, in order, with all cores at work.

        Only a few items and results are in memory at a time, however many there are. A single item is not worth
        another process.
        """
        iterator = iter(items)
        first = list(islice(iterator, 2))
        if self.cores == 1 or len(first) < 2:
            yield from map(function, first)
            yield from map(function, iterator)
            return
        self._pool = self._pool or ProcessPoolExecutor(self.cores, initializer=end_with_parent)
        waiting: deque[Future[Result]] = deque()
        try:
            for item in chain(first, iterator):
                waiting.append(self._pool.submit(function, item))
                if len(waiting) > 2 * self.cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise UserError("a process that prepared the corpus was killed: out of memory?") from None
        finally:
            for future in waiting:
                future.cancel()


class Progress:
    """A bar with rate and time left on a terminal; elsewhere a line at the end of a step that took a while."""

    def __init__(self, step: str, total: int | None, unit: str):
        self._step, self._unit, self._count, self._start = step, unit, 0, time.monotonic()
        scale = unit == "B"
        self._bar = tqdm(
            desc=step, total=total, unit=unit if scale else f" {unit}", unit_scale=scale, unit_divisor=1024,
            disable=not sys.stderr.isatty(), leave=False, dynamic_ncols=True,
        )  # fmt: skip

    def __enter__(self) -> "Progress":
        return self

    def advance(self, count: int) -> None:
        """Tell that ``count`` more are done."""
        self._count += count
        self._bar.update(count)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        seconds = time.monotonic() - self._start
        if kind is None and seconds > WORTH_A_LINE:
            rate = self._count / seconds
            tqdm.write(f"{self._step}: {self._count:,} {self._unit} in {seconds:.0f} s ({rate:,.0f} a second)")
