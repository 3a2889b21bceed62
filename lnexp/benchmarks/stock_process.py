"""Train with stock fairseq in a process of its own, as ``fairseq-train`` is one."""

import logging
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Self, TypeVar

import torch
from omegaconf import DictConfig

from lnexp.benchmarks.stock import TimedTrainer, stock_trainer

Answer = TypeVar("Answer")

#: In the process of stock fairseq: its trainer.
_trainers: list[TimedTrainer] = []


class StockProcess:
    """A process that has stock fairseq's trainer, with as many threads as this one; a context manager, to end it.

    Nothing that our training sets for a whole process, as what the C library keeps of freed memory, is set there.

    Args:
        cfg: a config of :func:`.stock.stock_config`.
    """

    def __init__(self, cfg: DictConfig):
        arguments = (cfg, torch.get_num_threads())
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_build, initargs=arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._pool.shutdown()

    def ask(self, what: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return ``what(trainer, *arguments)``, called in that process."""
        return self._pool.submit(_answer, what, arguments).result()


def _build(cfg: DictConfig, threads: int) -> None:
    logging.disable(logging.WARNING)
    torch.set_num_threads(threads)
    _trainers.append(stock_trainer(cfg))


def _answer(what: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
    return what(_trainers[0], *arguments)
