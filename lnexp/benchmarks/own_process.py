"""Run a measurement in its own process, so that the peak memory of the process is that of the measurement."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from lnexp.paths import ROOT


def run_in_own_process(module: str, *arguments: str, env: dict[str, str] | None = None) -> Any:
    """Run ``python -m module argument …``, and return the JSON of the last line that it prints.

    Args:
        module: to run.
        arguments: of its command line.
        env: added to the environment.

    Raises:
        subprocess.CalledProcessError: where the process fails.
    """
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    environment = os.environ | (env or {})
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def print_measured(measure: Callable[..., Any]) -> None:
    """Print what ``measure`` returns for the words of the command line, as JSON for :func:`run_in_own_process`."""
    logging.captureWarnings(True)
    logging.disable(logging.WARNING)
    print(json.dumps(measure(*sys.argv[1:]), default=asdict))


@contextmanager
def whole_peak() -> Iterator[None]:
    """Keep fairseq's trainer from resetting the GPU's peak memory after every update."""
    with mock.patch.object(torch.cuda, "reset_peak_memory_stats"):
        yield


def peak_memory(cuda: bool) -> float:
    """Return the peak memory so far, in GiB: the GPU's, or with ``cuda`` false that of this process."""
    if cuda:
        return torch.cuda.max_memory_allocated() / 2**30
    lines = Path("/proc/self/status").read_text().splitlines()  # getrusage includes the memory of the parent
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(kilobytes) / 2**20
