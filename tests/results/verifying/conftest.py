"""Copies of published results, and a published run whose tables are held against each other."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT

from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.published_evidence import PublishedRun, published_evidence


@pytest.fixture
def copied(tmp_path) -> Callable[[str], Path]:
    """Return a function that copies the published results of a place, as ``small/toy/fig2a``, to ``tmp_path``."""
    return lambda place: shutil.copytree(ROOT / "results" / place, tmp_path / place)


@pytest.fixture
def fig2a(copied) -> Path:
    """A copy of the published results of fig2a."""
    return copied("small/toy/fig2a")


@pytest.fixture(scope="module")
def run() -> PublishedRun:
    """A finished run of 480 updates, with six layers a side."""
    found = published_evidence(load_recipe("sharpness"), ROOT / "results/small/toy/sharpness", papers=False)[0]
    assert isinstance(found, PublishedRun)
    return found
