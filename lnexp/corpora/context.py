"""Provide what all steps of a preparation share: worker processes, the folder of downloads, progress output."""

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

#: Where output is not a terminal, a step that took longer than so many seconds is reported in a line.
REPORTED_SECONDS = 5


@dataclass
class PreparationContext:
    """Resources for preparing a corpus; a context manager that ends its worker processes.

    Attributes:
        downloads: the folder that keeps downloaded files.
        mirror: a base address (http, https or a folder) to use instead of the publishers'; None: there is none.
        cores: number of worker processes.
    """

    downloads: Path
    mirror: str | None = None
    cores: int = field(default_factory=lambda: available_cores())  # evaluated at construction
    _pool: ProcessPoolExecutor | None = field(default=None, init=False)

    def __enter__(self) -> "PreparationContext":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of ``function`` in the order of the items, computed in the worker processes.

        The function must be picklable. Only a few items and results are in memory at a time. A single item is computed
        in this process.

        Raises:
            UserError: where a worker process was killed.
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
    """Progress of one step: on a terminal a bar with rate and time left, elsewhere a line at the end of a long step."""

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
        """Add ``count`` finished units."""
        self._count += count
        self._bar.update(count)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        seconds = time.monotonic() - self._start
        if kind is None and seconds > REPORTED_SECONDS:
            rate = self._count / seconds
            tqdm.write(f"{self._step}: {self._count:,} {self._unit} in {seconds:.0f} s ({rate:,.0f} a second)")
