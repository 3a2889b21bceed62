"""The tutorial does what it says, word by word, on a copy of the project."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

TUTORIAL = ROOT / "docs" / "add_a_placement.md"
PARTS = ("configs", "docs", "lnexp", "recipes", "scripts", "pyproject.toml")
#: A file's name, and the block of code behind it; or a block of commands.
STEP = re.compile(r"`([\w/.]+\.(?:py|yaml))`[^`]*```(?:python|yaml)\n(.*?)```|```sh\n(.*?)```", re.DOTALL)


@pytest.fixture
def copy(tmp_path) -> Path:
    for part in PARTS:
        source, target = ROOT / part, tmp_path / part
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return tmp_path


@pytest.mark.slow
def test_from_an_empty_file_to_a_verdict_table(copy):
    said = []
    for file, content, commands in STEP.findall(TUTORIAL.read_text()):
        if file:
            assert not (copy / file).exists(), "the tutorial adds files and changes none"
            (copy / file).write_text(content)
        for command in commands.splitlines():
            said.append(run(copy, command))
    look, reproduced = said
    assert "lnexp_res_post_norm 6-6" in look
    assert "res-post-norm-learns" in reproduced
    folder = copy / "results" / "small" / "toy" / "res_post_norm"
    (claim,) = json.loads((folder / "verdicts.json").read_text())["claims"]
    assert {arm["n"] for arm in claim["arms"].values()} == {3}
    assert (folder / "figure.png").is_file()


def test_the_class_has_less_than_thirty_lines():
    (code,) = [content for file, content, _ in STEP.findall(TUTORIAL.read_text()) if file.endswith(".py")]
    assert len(code.splitlines()) < 30


def run(copy: Path, command: str) -> str:
    """A command of the tutorial, which says ``python``."""
    program, *arguments = command.split()
    assert program == "python"
    environment = os.environ | {"PYTHONPATH": str(copy), "WANDB_MODE": "offline", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
