"""What can be known of early.csv is held against it."""

import pandas as pd
import pytest

from lnexp.errors import UserError
from lnexp.result_tables import read_table
from lnexp.results.tables.early_numbers import UPDATES
from lnexp.results.verifying.stated_by_early_numbers import refuse_other_early_numbers

#: What a run of such a recipe would have in early.csv.
EARLY = {
    "attention_logit": 4.0, "attention_entropy": 2.0, "relative_update": 0.02, "angular_update": 0.02,
    "update_rms": 0.9, "hidden_cosine": 0.5, "sharpness": 55.24, "encoder_gradient_share": 0.5, "log_z": -1.0,
    "train_loss": 5.0, "grad_norm": 2.0,
}  # fmt: skip


@pytest.fixture
def early(run) -> pd.DataFrame:
    rows = [{"arm": run.job.arm.name, "seed": 81, "identity": run.identity, "update": update} for update in UPDATES]
    table = pd.DataFrame(rows).assign(**EARLY)
    refuse_other_early_numbers(table, [run])
    return table


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("attention_logit", 1e6, "other numbers than runs.csv states"),
        ("attention_entropy", 0.1, "other numbers than runs.csv states"),
        ("relative_update", 0.1, "other numbers than runs.csv states"),
        ("angular_update", 0.1, "other numbers than runs.csv states"),
        ("update_rms", 1.5, "other numbers than runs.csv states"),
        ("update_rms", 1e-6, "other numbers than runs.csv states"),
        ("hidden_cosine", 0.99, "other numbers than runs.csv states"),
        ("sharpness", 1e9, "other numbers than runs.csv states"),
        ("encoder_gradient_share", 1e-9, "other numbers than runs.csv states"),
        ("encoder_gradient_share", 1.5, "numbers that no run has"),
        ("train_loss", -1.0, "numbers that no run has"),
        ("grad_norm", -1.0, "numbers that no run has"),
        ("update", 9, "other rows than a run has"),
    ],
)
def test_early_numbers_are_within_those_of_the_run(early, run, column, value, said):
    early.loc[1, column] = value
    with pytest.raises(ValueError, match=rf"early\.csv .*{said}: post_ln_none seed 361: {column}"):
        refuse_other_early_numbers(early, [run])


def test_every_early_update_has_a_row(early, run):
    with pytest.raises(ValueError, match="other rows than a run has: post_ln_none seed 361: update"):
        refuse_other_early_numbers(early.iloc[1:], [run])


def test_a_row_is_there_once(tmp_path, early):
    path = tmp_path / "early.csv"
    early.to_csv(path, index=False)
    assert len(read_table(path)) == len(early)
    pd.concat([early, early.iloc[[1]]]).to_csv(path, index=False)
    with pytest.raises(UserError, match="two rows with one arm, seed, update"):
        read_table(path)
