"""Tables of results are read as they were written, or refused by the column that is wrong."""

import pandas as pd
import pytest
from helpers import ROOT

from lnexp.errors import UserError
from lnexp.result_tables import read_table, write_table

RUNS = ROOT / "results/small/toy/fig2a/runs.csv"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("seed", "x", "column seed: not a whole number in every row"),
        ("seed", "-1", "column seed"),
        ("seed", "1.5", "column seed"),
        ("seed", "", "column seed"),
        ("epochs", "9" * 400, "column epochs"),
        ("lr_max", "fast", "column lr_max: not a finite number"),
        ("best_valid_bleu", "inf", "column best_valid_bleu: not a finite number"),
        ("test_bleu", "1e400", "column test_bleu"),
        ("core_seconds", "True", "column core_seconds"),
        ("arm", "", "column arm: not a name in every row"),
        ("status", "\x1b[2J", r"malformed .*x1b' in it"),
        ("device", "\0", r"malformed .*x00' in it"),
        ("device", "\u202eUPG", r"malformed .*u202e' in it"),
    ],
)
def test_a_cell_of_another_kind_is_refused(tmp_path, column, value, message):
    table = pd.read_csv(RUNS, dtype=str, keep_default_na=False)
    table.loc[1, column] = value
    table.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "runs.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "malformed"),
        (lambda text: text.partition("\n")[0].replace("arm,", ""), "no column arm"),
        (lambda text: text + text.splitlines()[-1] + "\n", "two rows with one arm, seed"),
        (lambda text: text + '"', "malformed"),
        (lambda text: text + "1," * 100 + "\n", "malformed"),
    ],
)
def test_a_table_of_another_form_is_refused(tmp_path, change, message):
    (tmp_path / "runs.csv").write_text(change(RUNS.read_text()))
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "runs.csv")


def test_line_ends_of_another_system_change_nothing(tmp_path):
    (tmp_path / "runs.csv").write_bytes(RUNS.read_bytes().replace(b"\n", b"\r\n"))
    pd.testing.assert_frame_equal(read_table(tmp_path / "runs.csv"), read_table(RUNS))


def test_what_would_not_be_read_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="no column status"):
        write_table(tmp_path / "runs.csv", read_table(RUNS).drop(columns="status"))
    assert not (tmp_path / "runs.csv").exists()


def test_words_that_look_like_numbers_or_like_nothing_are_kept(tmp_path):
    arms = ["None", "NA", "1e-3", "null"]
    write_table(tmp_path / "runs.csv", read_table(RUNS).head(len(arms)).assign(arm=arms))
    assert list(read_table(tmp_path / "runs.csv")["arm"]) == arms
    outcomes = pd.DataFrame(
        {"rate": ["1e-3", "2e-3"], "depth": ["06", "12"], "outcome": "trains", "bleu_with": [1.0, None]}
    )
    write_table(tmp_path / "outcomes.csv", outcomes)
    pd.testing.assert_frame_equal(read_table(tmp_path / "outcomes.csv"), outcomes)
