"""A published run whose tables are held against each other."""

import pytest
from helpers import ROOT

from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.published_evidence import PublishedRun, published_evidence


@pytest.fixture(scope="module")
def run() -> PublishedRun:
    """A finished run of 480 updates, with six layers a side."""
    found = published_evidence(load_recipe("sharpness"), ROOT / "results/small/toy/sharpness", papers=False)[0]
    assert isinstance(found, PublishedRun)
    return found
