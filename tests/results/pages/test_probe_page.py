"""The page and the figures of a measurement that has several rows for a seed."""

import dataclasses

import pytest

from lnexp.figures.folder import draw_all, drawings
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.probe_result import ProbeResult
from lnexp.results.writing.write_probe import write_probe

RECIPE = load_recipe("dependency_pairs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of two arms and three seeds, of blocks of one and two sublayers."""
    arms = {name: RECIPE.arms[name] for name in ("post_ln", "pre_ln")}
    recipe = dataclasses.replace(RECIPE, arms=arms)
    results = [
        ProbeResult(
            Job(recipe, "theory", arm, seed),
            [
                {"sublayer": block, "on": on, "back": block - on, "share": seed * (0.2 if block == on == 2 else 0.1)}
                for block in (1, 2)
                for on in range(1, block + 1)
            ],
            False,
            "toy",
        )
        for arm in arms.values()
        for seed in (1, 2, 3)
    ]
    environment = {"cpu": "a processor", "device": "cpu"}
    return recipe, write_probe(recipe, results, "toy", None, environment, [], tmp_path_factory.mktemp("results"))


def test_intervals_are_over_seeds(folder):
    page = (folder[1] / "table.md").read_text()
    (row,) = (line for line in page.splitlines() if "(`post_ln`)" in line)
    assert "| 0.30 [-0.07, 0.67] (n=3)" in row, "of 0.15, 0.30 and 0.45"
    assert "![share of the variance](pairs.png)" in page


def test_lines_are_of_means_of_seeds_and_pairs_are_heat_maps(folder):
    recipe, results = folder
    (drawing,) = drawings(recipe, results)
    line = drawing.rows[0][0].lines[0]
    assert (line.x, line.mean) == ([0, 1], pytest.approx([0.3, 0.2]))
    assert (line.low, line.high) == (pytest.approx([0.15, 0.1]), pytest.approx([0.45, 0.3]))
    assert draw_all(recipe, results) == ["figure", "pairs"]
    assert (results / "pairs.svg").stat().st_size > 1_000
