"""Speed is compared with an earlier commit, which is gone again afterwards."""

import subprocess

import pytest
from helpers import ROOT

from lnexp.benchmarks import since


def worktrees() -> str:
    return subprocess.run(["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, text=True).stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
@pytest.mark.slow
def test_both_commits_are_timed_and_nothing_is_left(monkeypatch):
    before = worktrees()
    monkeypatch.setenv("BASE", "HEAD")
    monkeypatch.setattr(since, "ROUNDS", 1)
    monkeypatch.setattr(since, "COMMANDS", {"help": ("verify", "--help")})
    head, _, row = since.table().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["command", "at HEAD, s", "now, s", "times as fast"]
    name, then, now, ratio = (cell.strip() for cell in row.strip("|").split("|"))
    assert name == "help"
    assert min(float(then), float(now), float(ratio)) > 0
    assert worktrees() == before


def test_the_commands_exist():
    for script, *_ in since.COMMANDS.values():
        assert (ROOT / "scripts" / f"{script}.py").is_file()
