"""A measurement in a process of its own, whose memory is then that measurement's alone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from lnexp.configuration import ROOT


def ask(module: str, *arguments: str, env: dict[str, str] | None = None) -> Any:
    """What ``python -m module argument …`` prints as JSON in its last line; ``env`` is added to the environment.

    Raises:
        subprocess.CalledProcessError: where it fails.
    """
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    environment = os.environ | (env or {})
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def peak_memory(cuda: bool) -> float:
    """The most that was ever in use, GiB: of the GPU's memory, or of all that this process has."""
    if cuda:
        return torch.cuda.max_memory_allocated() / 2**30
    lines = Path("/proc/self/status").read_text().splitlines()  # getrusage counts what the parent had, too
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(kilobytes) / 2**20
