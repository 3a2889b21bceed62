"""How long a person waits for ``--help`` and for being told of a mistake."""

import statistics
import subprocess
import sys
import time

from lnexp.configuration import ROOT

RUNS = 5
QUESTIONS = {"--help": ["--help"], "an unknown option": ["lr_mxa=1"], "an unknown model": ["model=pre_lnn"]}


def seconds(arguments: list[str]) -> float:
    """Median wall-clock time of ``scripts/train.py`` with these arguments."""
    command = [sys.executable, str(ROOT / "scripts" / "train.py"), *arguments]

    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=False)
        return time.perf_counter() - start

    return statistics.median(once() for _ in range(RUNS))
