"""What can be known of snapshots.csv is held against it."""

from dataclasses import replace
from statistics import geometric_mean

import pandas as pd
import pytest
from helpers import ROOT

from lnexp.errors import UserError
from lnexp.result_tables import read_table
from lnexp.results.verifying.stated_by_snapshots import refuse_other_snapshots

#: Rows of the first run: of the whole model before the first update, of a layer of its encoder, and of its decoder.
MODEL, ENCODER, DECODER = 0, 3, 10


@pytest.fixture
def snapshots(run) -> pd.DataFrame:
    """Its snapshots."""
    table = read_table(ROOT / "results/small/toy/sharpness/snapshots.csv")
    mine = table[table["identity"] == run.identity].reset_index(drop=True)
    refuse_other_snapshots(mine, [run])
    return mine


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (ENCODER, "hidden_cosine", -0.5),
        (ENCODER, "hidden_state", -1.0),
        (ENCODER, "attention_entropy", 6.3),
        (ENCODER, "gradient_norm", -1.0),
        (ENCODER, "relative_update", -0.1),
        (ENCODER, "angular_update", 0.1),
        (ENCODER, "update_rms", -0.5),
        (MODEL, "train_loss", -1.0),
    ],
)
def test_numbers_that_no_run_has_are_refused(snapshots, run, row, column, value):
    snapshots.loc[row, column] = value
    with pytest.raises(ValueError, match=rf"has numbers that no run has: post_ln_none seed 361: {column}"):
        refuse_other_snapshots(snapshots, [run])


@pytest.mark.parametrize(
    ("row", "column", "value", "stated"),
    [
        (ENCODER, "attention_entropy", 0.0, "min_attention_entropy"),
        (DECODER, "gradient_norm", 100.0, "min_encoder_gradient_share"),
        (ENCODER, "relative_update", 1.0, "max_relative_update"),
        (ENCODER, "angular_update", 1.0, "max_angular_update"),
        (ENCODER, "update_rms", 30.0, "max_update_rms"),
    ],
)
def test_numbers_are_those_of_the_run_as_far_as_layers_give_them(snapshots, run, row, column, value, stated):
    snapshots.loc[row, column] = value
    if column == "attention_entropy":
        snapshots.loc[snapshots["update"] == 1, column] = value
    with pytest.raises(ValueError, match=rf"other numbers than runs\.csv states: post_ln_none seed 361: {stated}"):
        refuse_other_snapshots(snapshots, [run])


def test_changes_of_states_are_held_against_those_of_the_run(snapshots, run):
    """No published run has them yet: here every layer's change is a tenth of its number, times the update."""
    layers = snapshots["side"] != "model"
    snapshots.loc[layers, "state_change"] = 0.1 * snapshots["layer"] * snapshots["update"]
    early = sorted(update for update in set(snapshots["update"]) if update <= 32)
    means = {f"early_{side}_change": 0.6 * geometric_mean(early) for side in ("encoder", "decoder")}
    measured = replace(run, end={**run.end, "first_encoder_change": 0.6, **means})
    refuse_other_snapshots(snapshots, [measured])
    for column in ("first_encoder_change", *means):
        with pytest.raises(ValueError, match=rf"runs\.csv states: .*: {column}"):
            refuse_other_snapshots(snapshots, [replace(measured, end={**measured.end, column: 0.7})])
    snapshots.loc[ENCODER, "state_change"] = -0.1
    with pytest.raises(ValueError, match=r"has numbers that no run has: .*: state_change"):
        refuse_other_snapshots(snapshots, [measured])


def test_a_first_change_may_be_late(snapshots, run):
    late = snapshots[snapshots["update"] > 32].copy()
    late.loc[late["side"] != "model", "state_change"] = 0.5
    asked = replace(run, command=run.command.replace("diagnostics.at=log ", ""))
    refuse_other_snapshots(late, [replace(asked, end={"first_encoder_change": 0.5})])
    with pytest.raises(ValueError, match="first_encoder_change"):
        refuse_other_snapshots(late, [replace(asked, end={"first_encoder_change": 0.4})])


@pytest.mark.parametrize(("row", "column"), [(MODEL, "train_loss"), (ENCODER, "hidden_state")])
def test_a_number_is_not_left_out_unless_the_run_diverged(snapshots, run, row, column):
    snapshots.loc[row, column] = None
    with pytest.raises(ValueError, match=rf"lacks numbers of a run: post_ln_none seed 361: {column}"):
        refuse_other_snapshots(snapshots, [run])
    refuse_other_snapshots(snapshots, [replace(run, state="diverged")])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(index=ENCODER), "other rows than a run has: .*: layer"),
        (lambda table: table[(table["layer"] != 6) | (table["update"] != 2)], "other rows than a run has: .*: layer"),
        (lambda table: table[(table["layer"] != 0) | (table["update"] != 2)], "other rows than a run has: .*: layer"),
        (
            lambda table: table.assign(side=table["side"].where(table.index != DECODER, "middle")),
            "other rows than a run has: .*: side, layer",
        ),
        (lambda table: table.assign(train_loss=1.0), "other rows than a run has: .*: side"),
        (lambda table: table[table["update"] != 8], "runs.csv states: .*: update"),
        (lambda table: table.replace({"update": {8: 9}}), "runs.csv states: .*: update"),
        (lambda table: table[::-1], "runs.csv states: .*: update"),
    ],
)
def test_every_update_that_the_command_asks_for_has_a_row_a_layer(snapshots, run, change, said):
    with pytest.raises(ValueError, match=said):
        refuse_other_snapshots(change(snapshots), [run])


def test_a_run_that_diverged_has_the_rows_until_then(snapshots, run):
    begun = replace(run, state="diverged", epochs=run.epochs[:1], end={})
    refuse_other_snapshots(snapshots[snapshots["update"] <= 91], [begun])
    with pytest.raises(ValueError, match="update"):
        refuse_other_snapshots(snapshots[snapshots["update"] <= 32], [begun])


def test_a_command_that_asks_for_no_snapshots_says_not_which(snapshots, run):
    silent = replace(run, command=run.command.replace("diagnostics.at=log ", ""))
    refuse_other_snapshots(snapshots[snapshots["update"] != 8].drop(columns="sharpness"), [replace(silent, end={})])
    listed = replace(run, command=run.command.replace("diagnostics.at=log", "diagnostics.at=[1,8]"), end={})
    refuse_other_snapshots(snapshots[snapshots["update"].isin([1, 8])], [listed])


def test_matrices_of_a_run_that_diverged_may_have_no_number(snapshots, run):
    """As where some matrices have no gradient, so that the mean angle is of others than the mean size."""
    snapshots.loc[ENCODER, ["relative_update", "angular_update"]] = [1e-4, 1.571]
    refuse_other_snapshots(snapshots, [replace(run, state="diverged", end={})])
    with pytest.raises(ValueError, match="angular_update"):
        refuse_other_snapshots(snapshots, [replace(run, end={})])


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_a_snapshot_without_gradients_of_a_side_has_no_share(snapshots, run, side):
    first = (snapshots["update"] == 1) & (snapshots["side"] == side)
    snapshots.loc[first, "gradient_norm"] = 0.0
    refuse_other_snapshots(snapshots, [run])


def test_a_row_is_there_once(tmp_path, snapshots):
    path = tmp_path / "snapshots.csv"
    snapshots.to_csv(path, index=False)
    assert len(read_table(path)) == len(snapshots)
    pd.concat([snapshots, snapshots.iloc[[ENCODER]]]).to_csv(path, index=False)
    with pytest.raises(UserError, match="two rows with one arm, seed, update"):
        read_table(path)
