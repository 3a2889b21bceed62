"""What a run ran on and with."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from lnexp.configuration import ROOT
from lnexp.versions import version

PACKAGES = (
    "ve-fairseq",
    "torch",
    "hydra-core",
    "omegaconf",
    "numpy",
    "sacrebleu",
    "sacremoses",
    "sentencepiece",
    "subword-nmt",
)

#: What decides a run's numbers; a log or a table beside it does not.
CODE = ("lnexp", "configs", "recipes", "scripts", "requirements", "pyproject.toml")


def environment(device: str, data_manifest: dict[str, Any]) -> dict[str, Any]:
    """Commit, package versions, machine and the checksums of the data, as ``environment.json`` keeps them."""
    return {
        "git": git_state(),
        "python": platform.python_version(),
        "packages": {package: version(package) for package in PACKAGES},
        "host": platform.node(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "device": device,
        **({} if device == "cpu" else libraries_of_the_gpu()),
        "data": {key: data_manifest.get(key) for key in ("pairs", "part_of", "sha256")},
    }


def libraries_of_the_gpu() -> dict[str, Any]:
    """The versions of what has a GPU's kernels."""
    import torch

    return {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}


def git_state() -> dict[str, Any]:
    """The commit and whether what decides a run has changes on top, new files included; nulls outside a repository."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(ROOT), *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    changes = git("status", "--porcelain", "--", *CODE)
    return {"commit": git("rev-parse", "HEAD"), "dirty": None if changes is None else bool(changes)}


def cpu_name() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
