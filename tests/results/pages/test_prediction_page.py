"""A sweep's page says which early number tells how its runs end."""

import re
from dataclasses import replace

import numpy as np
import pytest
from swept import SEEDS, swept_recipe, swept_runs

from lnexp.results.pages.prediction_page import (
    prediction_in_short,
    prediction_in_words,
    prediction_page,
    read_early,
)
from lnexp.results.tables.early_numbers import early_table


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
    assert list(found)[1:] == ["lr_max", "rate reached", "cosine of hidden states"]
    assert found["cosine of hidden states"][1] == "1.00 (1.00 to 1.00)"
    assert cells(page, 1)["cosine of hidden states"][1] == "1.00 (1.00 to 1.00)"


def test_few_placements_have_a_table_each(made):
    page = prediction_page(*made)
    assert [block for block in page.split("\n\n") if block.startswith("The same over")] == [
        f"The same over the runs of {label}, so that it cannot only tell placements apart:"
        for label in ("Pre-LN", "Post-LN †")
    ]


def test_many_placements_have_their_mean(made, monkeypatch):
    monkeypatch.setattr("lnexp.results.pages.prediction_page.FEW", 1)
    page = prediction_page(*made)
    assert "over the runs of one placement, the mean over placements whose runs end differently, so" in page
    assert cells(page, 1)["cosine of hidden states"][1] == "1.00 (1.00 to 1.00)"


def test_what_is_chosen_is_said_with_how_it_does_in_the_seed_left_out(made):
    page = prediction_page(*made)
    assert "of the 2 that all runs have" in page
    assert "Chosen were: cosine of hidden states at update 16 (3 of 3 seeds)." in page
    assert "is 1.00 (1.00 to 1.00), and it tells a good run from one that is not in 100% of pairs" in page


def test_the_words_alone_have_no_tables(made):
    words = prediction_in_words(*made)
    assert prediction_page(*made).endswith(words)
    assert "with the final nll" in words
    assert "|" not in words
    assert "above" not in words
    recipe, runs, early = made
    assert prediction_in_words(recipe, runs[:-1], early[early["seed"] == SEEDS[0]]) == "", "one seed tests nothing"
    assert prediction_in_words(recipe, [], early) == ""


def test_in_short_the_same_correlations_are_compared(made):
    recipe, runs, early = made
    short, words = prediction_in_short(*made), prediction_in_words(*made)
    correlations = re.findall(r"[-\d.]+ \([-\d.]+ to [-\d.]+\)", short)
    assert len(correlations) == 3
    assert all(correlation in words for correlation in correlations)
    assert "cosine of hidden states at update 16" in short
    assert prediction_in_short(recipe, runs[:-1], early[early["seed"] == SEEDS[0]]) == "", "one seed tests nothing"
    assert prediction_in_short(recipe, runs, None) == ""


def test_a_number_that_falls_where_runs_end_worse_tells_as_much(made):
    recipe, runs, early = made
    turned = early.copy()
    turned["hidden_cosine"] *= -1
    assert "where its sign is that in the others, is 1.00 (1.00 to 1.00)" in prediction_page(recipe, runs, turned)


def test_what_was_known_before_stands_beside_it(made):
    page = prediction_page(*made)
    chosen = r"the same choice is (lr_max|rate reached at update \d+) \(3 of 3 seeds\); it has 0\.\d\d"
    assert re.search(rf"without the placement, {chosen}", page)
    assert re.search(r"and T_warmup\) has [01]\.\d\d \(.*\), and it tells a good run from .* in 100%", page)


def test_what_a_number_tells_within_arms_stands_beside_it(made):
    """It is a tenth of the final nll, but for rounding, which parts some ties."""
    assert re.search(r"over all runs, is 0\.9\d for the cosine of hidden states at update 16:", prediction_page(*made))


def test_without_early_numbers_there_is_nothing(made, tmp_path):
    recipe, runs, early = made
    assert read_early(tmp_path) is None
    assert prediction_page(recipe, runs, None) == prediction_in_words(recipe, runs, None) == ""
    early.to_csv(tmp_path / "early.csv", index=False)
    assert len(read_early(tmp_path)) == len(early)


def test_one_seed_has_correlations_and_no_choice(made):
    recipe, runs, early = made
    page = prediction_page(recipe, [run for run in runs if run.job.seed == SEEDS[0]], early)
    assert cells(page)["cosine of hidden states"][1] == "1.00"
    assert "left out" not in page


def test_there_is_none_before_a_seed_has_a_run_of_all_arms(made):
    recipe, runs, early = made
    assert prediction_page(recipe, runs[len(SEEDS) :], early) == ""
    by_arm = {run.job.arm.name: [] for run in runs}
    for run in runs:
        by_arm[run.job.arm.name].append(run)
    one_each = [of[number % len(SEEDS)] for number, of in enumerate(by_arm.values())]
    assert prediction_page(recipe, one_each, early) == "", "every arm has one, of one seed or another"


def test_within_arms_the_sign_is_that_over_all_runs(made):
    recipe, runs, early = made
    turned = early.assign(hidden_cosine=-early["hidden_cosine"])
    of_both = [
        re.search(r"the correlation, .*, is (-?\d\.\d\d) for", prediction_page(recipe, runs, one))
        for one in (early, turned)
    ]
    assert of_both[0][1] == of_both[1][1]
