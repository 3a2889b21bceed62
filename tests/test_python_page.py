"""The blocks of docs/python.md run one after another on a copy of the project, started from another folder."""

import os
import shutil
from pathlib import Path

import pytest
from helpers import ROOT, TINY
from markdown_it import MarkdownIt
from warm_commands import run_warm

from lnexp.paths import RESULTS_DIR

PAGE = ROOT / "docs" / "python.md"
#: Passed to every call of train, so that its runs take a second.
SMALLER = f"""
import functools, lnexp
lnexp.train = functools.partial(lnexp.train, *{TINY!r})
"""


def blocks() -> list[str]:
    return [token.content for token in MarkdownIt().parse(PAGE.read_text()) if token.info == "python"]


@pytest.fixture
def copied_project(tmp_path) -> Path:
    for part in ("lnexp", "configs", "recipes", "scripts", "results"):
        shutil.copytree(ROOT / part, tmp_path / "project" / part)
    return tmp_path / "project"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(copied_project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = os.environ | {"PYTHONPATH": str(copied_project), "OMP_NUM_THREADS": "1"}
    check = "print(sorted(set(runs['status'])), len(runs), len(epochs), [str(path) for path in folders])"
    code = "\n".join([SMALLER, *blocks(), check])
    done = run_warm(["-c", code], environment, cwd=elsewhere, own_package=True)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("['finished'] 4 8 "), done.stdout
    assert last.count(str(copied_project / "runs" / "adhoc")) == 4, "runs lie in the project, not where Python started"
    assert [path.name for path in elsewhere.iterdir()] == ["curves.png"]


def test_the_page_names_every_call_and_column():
    import lnexp
    from lnexp.results.tables.frames import OF_EPOCHS

    text = PAGE.read_text()
    assert all(f"lnexp.{name}" in text for name in lnexp.__all__)
    assert all(f"`{column}`" in text for column in OF_EPOCHS)
    assert {"claim", "verdict", "counts", "estimate", "low", "high", "seeds"} <= set(lnexp.verdicts(RESULTS_DIR))
