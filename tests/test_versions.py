"""Versions of packages, and which torch is refused."""

import re
import shlex
import subprocess
import tomllib

import pytest
from helpers import ROOT

from lnexp import versions
from lnexp.errors import UserError
from lnexp.versions import TORCH, check_torch, version


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
    (line,) = (line for line in said.splitlines() if "torch==2.5.1" in line)
    *_, wanted, limits = shlex.split(line.removesuffix("\\"))
    assert (wanted, type(TORCH)(limits.removeprefix("torch"))) == ("torch==2.5.1", TORCH)
