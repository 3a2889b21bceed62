"""Describe what a run ran on and with: commit, numerics, package versions, machine, data."""

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from lnexp.corpora.known import KNOWN
from lnexp.git import ask_git
from lnexp.numerics import NUMERICS, numerics_of
from lnexp.schema import Count, checked
from lnexp.tasks import all_tasks
from lnexp.torch_variables import chosen_kernels
from lnexp.versions import version

#: Packages whose versions are recorded, besides those that tasks name.
PACKAGES = (
    "ve-fairseq",
    "torch",
    "hydra-core",
    "omegaconf",
    "numpy",
)

#: What a run's numbers depend on, within the repository.
CODE = ("lnexp", "configs", "recipes", "scripts", "requirements", "pyproject.toml")


def _check_commit(name: str) -> None:
    """Refuse what names no single commit: git may take it for an option, or for a branch, which moves."""
    if not re.fullmatch(r"[0-9a-f]{7,40}", name):
        raise ValueError("is no commit's hash")


#: The hash of a commit, in full or cut.
Commit = Annotated[str, _check_commit]


class GitState(TypedDict, total=False):
    """A commit of the code.

    Attributes:
        commit: its name; None outside a repository.
        dirty: whether there were changes on top; None outside a repository.
        earlier: the commits that trained the run before it was resumed by this one.
    """

    commit: Commit | None
    dirty: bool | None
    earlier: list[Commit]


def check_facts(data: Mapping[str, Any]) -> None:
    """Refuse what is not said of a corpus as ``environment.json`` and manifests say it. Raises TypeError, ValueError.

    Args:
        data: sizes by split under each unit that there is, checksums by file, the known corpus it is a part of, and
            the name of labelled pairs.
    """
    for unit in (unit for task in all_tasks() if (unit := task.unit) in data):
        if "train" not in checked(dict[str, Count], data[unit], unit):
            raise ValueError(f"{unit}: has no train")
    checked(dict[str, str] | None, data.get("sha256"), "sha256")
    checked(str | None, data.get("pairs_name"), "pairs_name")
    if data.get("part_of") is not None and checked(str, data["part_of"], "part_of") not in KNOWN:
        raise ValueError(f"part_of: {data['part_of']} is no known corpus")


class Continues(TypedDict):
    """The identity of a run of fewer epochs, and how many of its epochs were taken over."""

    run: str
    epoch: Count


class Environment(TypedDict, total=False):
    """The content of ``environment.json``, of which older runs have a part.

    Attributes:
        git: the commit of the code.
        numerics: their version.
        python, packages: versions; None for a package that is not installed.
        host, cpu, cores, device: the machine.
        instructions: the processor's instruction set that torch has kernels for, by which machines of one name can
            differ; missing in older records.
        kernels: the environment variables that chose kernels of torch and its libraries; missing where none did.
        cuda, cudnn: the libraries of a GPU.
        data: of the corpus, sizes by split, checksums by file, the known corpus that it is a part of, and which
            labelled pairs they are.
        code, earlier_code: digests of modules, see :mod:`lnexp.runs.code`.
        processes, array: what trains the run since it was last resumed: how many processes, or which runs together.
        continues: the shorter run that trained its first epochs, see :mod:`lnexp.training.longer`.
    """

    git: GitState
    numerics: Count
    python: str
    packages: dict[str, str | None]
    host: str
    cpu: str
    instructions: str
    cores: Count | None
    device: str
    kernels: dict[str, str]
    cuda: str | None
    cudnn: int | None
    data: Annotated[dict[str, Any], check_facts]
    code: dict[str, str]
    earlier_code: list[dict[str, str]]
    processes: Count
    array: list[str]
    continues: Continues


def environment(device: str, data_manifest: dict[str, Any]) -> Environment:
    """Return the content of ``environment.json``: commit, numerics, package versions, machine, and of the data size and
    checksums. A run adds the digests of its code, see :mod:`lnexp.runs.code`.

    Args:
        device: what the run is computed on.
        data_manifest: of the corpus.
    """
    units = dict.fromkeys(task.unit for task in all_tasks())
    packages = dict.fromkeys([*PACKAGES, *(package for task in all_tasks() for package in task.packages)])
    libraries = {} if device == "cpu" else gpu_libraries()
    content = {
        "git": git_state(),
        "numerics": NUMERICS,
        "python": platform.python_version(),
        "packages": {package: version(package) for package in packages},
        "host": platform.node(),
        "cpu": cpu_name(),
        "instructions": instructions(),
        "cores": os.cpu_count(),
        "device": device,
        **({"kernels": chosen} if (chosen := chosen_kernels()) else {}),
        **libraries,
        "data": {
            **{unit: data_manifest[unit] for unit in units if unit in data_manifest},
            **{key: data_manifest[key] for key in ("pairs_name",) if key in data_manifest},
            **{key: data_manifest.get(key) for key in ("part_of", "sha256")},
        },
    }
    return cast(Environment, content)


def other_data(earlier: Environment, manifest: Mapping[str, Any]) -> str:
    """Return what a run's text is, in words, where it is another than that of a corpus; empty where it is the same.

    Args:
        earlier: the content of the run's ``environment.json``; nothing is said of one that has no checksums.
        manifest: of the corpus.
    """
    seen, now = (earlier.get("data") or {}).get("sha256"), manifest["sha256"]
    if seen is None or seen == now:
        return ""
    names = sorted(name for name in seen.keys() | now.keys() if seen.get(name) != now.get(name))
    return f"on other text than is in its corpus ({', '.join(names)})"


def other_numerics(earlier: Environment) -> str:
    """Return which numerics a run is of, in words, where they are not today's; empty where they are, or unknown."""
    found = numerics_of(earlier) if earlier else NUMERICS
    return f"with version {found} of the numerics, not {NUMERICS}" if found != NUMERICS else ""


def continued(now: Environment, earlier: Environment) -> Environment:
    """Return the environment of a run that is resumed, with the other commits and code that it was trained by before.

    Args:
        now: what it runs on from here on.
        earlier: the content of its ``environment.json`` so far; empty where unknown.
    """
    if "continues" in earlier:
        now = now | Environment(continues=earlier["continues"])
    before = earlier.get("git", {})
    commits = {commit for commit in (before.get("commit"), *before.get("earlier", [])) if commit}
    if others := sorted(commits - {now["git"]["commit"]}):
        now = now | {"git": {**now["git"], "earlier": others}}
    codes = [
        code for code in (*earlier.get("earlier_code", []), earlier.get("code")) if code not in (None, now["code"])
    ]
    if not (earlier.get("code") or before.get("commit")):
        codes.append({})  # unknown, and so other code than any
    return now | {"earlier_code": codes} if codes else now


def gpu_libraries() -> dict[str, Any]:
    """Return the versions of the libraries that hold a GPU's kernels."""
    import torch

    return {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}


@cache
def git_state() -> dict[str, Any]:
    """Return the commit, and whether :data:`CODE` differs from it, new files included; nulls outside a repository.

    They are those of the first call: what is changed or committed while a process lives is not what it trains with.
    """
    changes, commit = ask_git("status", "--porcelain", "--", *CODE), ask_git("rev-parse", "HEAD")
    return {"commit": commit and commit.strip(), "dirty": None if changes is None else bool(changes)}


def instructions() -> str:
    """Return the instruction set that torch chooses kernels by, as ``AVX2``."""
    import torch

    return torch.backends.cpu.get_cpu_capability()


def cpu_name() -> str:
    """Return the processor's name, as the machine states it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
