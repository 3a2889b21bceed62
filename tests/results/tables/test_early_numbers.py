"""The early numbers of a run are those of its records at a few updates, and those that a table states."""

import statistics
from dataclasses import replace

import pytest
from swept import swept_recipe, swept_runs

from lnexp.errors import UserError
from lnexp.result_tables import read_table, write_table
from lnexp.results.tables.early_numbers import UPDATES, early_numbers, early_table


def snapshot(update):
    return {"kind": "snapshot", "epoch": 1, "update": update, "hidden_cosine.encoder": [0.5, 0.1, None],
            "attention_logit.encoder.self_attn": [1.0, 4.0], "attention_logit.decoder.self_attn": [2.0],
            "log_z.output": [5.5]}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """A run with the records of 40 updates, and snapshots of some."""
    losses = [8.0 - 0.1 * update for update in range(40)]
    updates = [
        {"kind": "updates", "epoch": 1, "update": 40, "train_loss": losses, "grad_norm": [2.0] * 19 + [None] * 21}
    ]
    taken = [snapshot(update) for update in (1, 8, 11, 16, 32)]
    return replace(swept_runs(swept_recipe(tmp_path))[0], updates=updates, snapshots=taken)


def test_there_is_a_row_at_every_update_that_the_run_reached(run):
    assert [row["update"] for row in early_numbers(run)] == [8, 16, 32]
    assert set(UPDATES) > {8, 16, 32}


def test_series_are_means_over_the_second_half_of_the_updates_before(run):
    at_8, at_16, at_32 = early_numbers(run)
    assert at_8["train_loss"] == pytest.approx(statistics.fmean([7.6, 7.5, 7.4, 7.3]))
    assert at_32["train_loss"] == pytest.approx(8.0 - 0.1 * 23.5)
    assert at_8["grad_norm"] == at_16["grad_norm"] == 2.0
    assert "grad_norm" not in at_32, "some of its updates had none"


def test_snapshots_are_summed_up_over_modules_and_layers(run):
    first = early_numbers(run)[0]
    assert first["hidden_cosine"] == pytest.approx(0.3)
    assert first["attention_logit"] == 4.0, "the largest"
    assert first["log_z"] == 5.5
    assert "sharpness" not in first
    assert "encoder_gradient_share" not in first


def test_a_run_without_all_of_its_updates_has_no_means(run):
    assert "train_loss" not in early_numbers(replace(run, updates=[]))[0]


def test_a_table_is_read_as_it_was_written_and_stands_for_records(run, tmp_path):
    table = early_table([run])
    assert list(table["update"]) == [8, 16, 32]
    write_table(tmp_path / "early.csv", table)
    again = read_table(tmp_path / "early.csv")
    assert again.equals(table)
    stated = replace(run, snapshots=[], stated_early=early_numbers(run))
    assert early_table([stated]).equals(table)
    assert early_table([replace(run, snapshots=[])]).empty


@pytest.mark.parametrize("column", ["hidden_cosine", "log_z", "update"])
def test_a_table_with_a_word_where_a_number_belongs_is_malformed(run, tmp_path, column):
    table = early_table([run]).astype({column: object})
    table.loc[1, column] = "alike"
    table.to_csv(tmp_path / "early.csv", index=False)
    with pytest.raises(UserError, match=rf"early\.csv: malformed \(column {column}: not a"):
        read_table(tmp_path / "early.csv")
