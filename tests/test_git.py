"""What git says, and that it says nothing where it cannot."""

import os

import pytest

from lnexp.git import ask_git


@pytest.mark.parametrize(("kills", "answer"), [(0, "said\n"), (1, "said\n"), (3, None)])
def test_a_git_that_was_killed_is_asked_again(tmp_path, monkeypatch, kills, answer):
    asked = tmp_path / "asked"
    dies_at_first = tmp_path / "git"
    dies_at_first.write_text(
        f'#!/bin/sh\necho >> "{asked}"\n[ $(wc -l < "{asked}") -gt {kills} ] || kill -9 $$\necho said\n'
    )
    dies_at_first.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert ask_git("rev-parse", "HEAD") == answer
    assert asked.read_text().count("\n") == min(kills + 1, 3)


def test_git_says_nothing_outside_a_repository_of_what_it_does_not_know_and_where_it_is_not(tmp_path, monkeypatch):
    assert ask_git("rev-parse", "HEAD").strip().isalnum()
    assert ask_git("rev-parse", "HEAD", folder=tmp_path) is None
    assert ask_git("rev-parse", "--verify", "--quiet", "no-such-commit") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask_git("rev-parse", "HEAD") is None
