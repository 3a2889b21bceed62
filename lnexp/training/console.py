"""What a person sees while a run trains; the whole story goes to ``train.log``."""

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from lnexp.runs.progress import clock
from lnexp.runs.records import Record


def say(text: str) -> None:
    """One line on standard output, above a progress bar if there is one."""
    tqdm.write(text, file=sys.stdout)
    sys.stdout.flush()


def epoch_line(record: Record, max_epoch: int, seconds_left: float) -> str:
    """An epoch in a line: what it reached, how fast, and how long the run still takes."""
    return (
        f"epoch {record['epoch']:>{len(str(max_epoch))}}/{max_epoch}"
        f" | valid loss {record['valid_loss']:.3f}, nll {record['valid_nll']:.3f}, BLEU {record['valid_bleu']:5.1f}"
        f" | train loss {record['train_loss']:.3f} | lr {record['lr']:.2e} | grad norm {record['grad_norm']:.2f}"
        f" | {record['tokens_per_second']:,.0f} tokens/s | {clock(seconds_left)} left"
    )


class Clock:
    """Estimates the time left from the pace of the epochs of this process."""

    def __init__(self, first_epoch: int, max_epoch: int):
        self.first_epoch, self.max_epoch = first_epoch, max_epoch
        self.start = time.monotonic()

    def seconds_left(self, epoch: int) -> float:
        """After ``epoch`` is done."""
        done = epoch - self.first_epoch + 1
        return (time.monotonic() - self.start) / done * (self.max_epoch - epoch)


@contextmanager
def logging_to(paths: Sequence[Path]) -> Iterator[None]:
    """Send everything that is logged, warnings included, to files (the same to each) and nowhere else."""
    files = [logging.FileHandler(path, encoding="utf-8") for path in paths]
    for file in files:
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = files
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        root.setLevel(level)
        for file in files:
            file.close()
