"""A sweep's page says which early number tells how its runs end."""

from dataclasses import replace

import numpy as np
import pytest
from swept import SEEDS, swept_recipe, swept_runs

from lnexp.results.measures.early_numbers import early_table
from lnexp.results.pages.prediction_page import prediction_page


def with_snapshots(runs):
    """Runs whose hidden states are the more alike at update 16 the worse they end, and no more so at update 8."""
    random = np.random.default_rng(5)

    def records(run):
        end = 6.0 if run.state == "diverged" else run.epochs[-1]["valid_nll"]
        cosines = {8: random.uniform(), 16: end / 10}
        return [
            {"kind": "snapshot", "epoch": 1, "update": update, "hidden_cosine.encoder": [cosine]}
            for update, cosine in cosines.items()
        ]

    return [replace(run, snapshots=records(run)) for run in runs]


@pytest.fixture
def made(tmp_path):
    recipe = swept_recipe(tmp_path)
    runs = with_snapshots(swept_runs(recipe))
    return recipe, runs, early_table(runs)


def cells(page, number=0):
    tables = [block for block in page.split("\n\n") if block.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[number].splitlines()]
    return {row[0]: row[1:] for row in (rows[0], *rows[2:])}


def test_a_row_a_number_and_a_column_an_update(made):
    page = prediction_page(*made)
    assert "over the 18 runs of a seed" in page
    found = cells(page)
    assert found["number"] == ["update 8", "update 16"]
    assert list(found)[1:] == ["lr_max, known before", "cosine of hidden states"]
    assert found["cosine of hidden states"][1] == "1.00 (1.00 to 1.00)"
    assert cells(page, 1)["cosine of hidden states"][1] == "1.00 (1.00 to 1.00)"


def test_what_is_chosen_is_said_with_how_it_does_in_the_seed_left_out(made):
    page = prediction_page(*made)
    assert "cosine of hidden states at update 16 (3 of 3 seeds)" in page
    assert (
        "its correlation is 1.00 (1.00 to 1.00), and of a good run and one that is not it says which is which in"
        in page
    )
    assert "in 100% of pairs" in page


def test_one_seed_has_correlations_and_no_choice(made):
    recipe, runs, early = made
    page = prediction_page(recipe, [run for run in runs if run.job.seed == SEEDS[0]], early)
    assert cells(page)["cosine of hidden states"][1] == "1.00"
    assert "Chosen" not in page


def test_there_is_none_before_all_arms_have_a_run(made):
    recipe, runs, early = made
    assert prediction_page(recipe, runs[len(SEEDS) :], early) == ""
