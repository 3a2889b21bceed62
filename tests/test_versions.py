"""Versions of packages, and which torch is refused."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from helpers import ROOT

from lnexp import versions
from lnexp.errors import UserError
from lnexp.versions import TORCH, check_torch, refuse_other_torch, version


def test_of_what_is_installed_and_of_what_is_not():
    assert version("sacrebleu")[0].isdigit()
    assert version("lnexp-of-nobody") is None


@pytest.mark.parametrize("found", ["2.5.1", "2.14.0", "1.13.1+cu117", None])
def test_a_torch_outside_the_range_is_refused(monkeypatch, found):
    monkeypatch.setattr(versions, "version", lambda package: found)
    with pytest.raises(UserError, match=f"^torch {re.escape(str(found))}: lnexp needs torch"):
        check_torch()


@pytest.mark.parametrize("found", ["2.6.0", "2.11.0+cu130", "2.13.1"])
def test_a_torch_within_the_range_is_taken(monkeypatch, found):
    monkeypatch.setattr(versions, "version", lambda package: found)
    check_torch()


def test_the_range_is_that_of_the_package():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (torch,) = (each for each in dependencies if each.startswith("torch"))
    assert str(TORCH) == str(type(TORCH)(torch.removeprefix("torch")))


def test_make_gives_pip_the_range_beside_the_wanted_torch():
    command = ["make", "-n", "-B", ".venv/installed", "TORCH=torch==2.5.1"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in said.splitlines() if "torch==2.5.1" in line and "pip install" in line)
    *_, wanted, limits = shlex.split(line.removesuffix("\\"))
    assert (wanted, type(TORCH)(limits.removeprefix("torch"))) == ("torch==2.5.1", TORCH)


@pytest.mark.parametrize(
    "words",
    ["torch>=2.6", "torch<2.10", "torch==2.5.1 #", "torch==2.5.1;true", "torch==2.5.1 || true", "it's", "-r a", "t*"],
)
def test_no_character_of_the_wanted_torch_means_anything_to_the_shell(words):
    command = ["make", "-n", "-B", ".venv/installed", f"PYTHON={sys.executable}", f"TORCH={words}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in said.splitlines() if "--no-warn-conflicts" in line)
    echoed = subprocess.run(
        ["bash", "-c", line.removesuffix("\\").replace(".venv/bin/python", "printf '%s\\n'", 1)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    *wanted, limits = echoed.stdout.partition("--no-warn-conflicts\n")[2].splitlines()
    assert wanted == words.split()
    assert limits.startswith("torch>=")


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["torch==2.4.0"], "torch==2.4.0"),
        (["-i", "https://example.com", "torch>=2.14"], "torch>=2.14"),
        (["torch==2.13.0+cpu"], None),
        (["torch>=2.6,<2.14"], None),
        (["-r", "requirements/torch.txt"], None),
    ],
)
def test_a_wanted_torch_that_is_not_the_installed_one_is_refused(monkeypatch, words, refused):
    monkeypatch.setattr(versions, "version", lambda package: "2.13.0+cpu")
    if refused is None:
        refuse_other_torch(words)
        return
    with pytest.raises(UserError, match=f"^TORCH={re.escape(refused)}: .venv has torch 2.13.0"):
        refuse_other_torch(words)


def test_make_looks_at_the_torch_that_is_there():
    said = subprocess.run(
        ["make", "-n", "-o", ".venv/installed", "install", "TORCH=torch==2.4.0"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ".venv/bin/python -m lnexp.versions 'torch==2.4.0'" in said.stdout
    unsaid = subprocess.run(
        ["make", "-n", "-o", ".venv/installed", "install"],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={name: value for name, value in os.environ.items() if name != "TORCH"},
    )  # fmt: skip
    assert "lnexp.versions" not in unsaid.stdout
