"""Tables of a folder of results that disagree with each other, their recipe or their corpus are named."""

import pandas as pd
import pytest
from helpers import change_provenance

from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.verifying.judge_again import what_tables_deny


def _denied(folder):
    return what_tables_deny(read_verdicts(folder / "verdicts.json"), folder)


def _change(folder, name, change):
    table = pd.read_csv(folder / name, dtype={"identity": str})
    change(table).to_csv(folder / name, index=False)


def _with(column, value, row=1):
    def change(table):
        table.loc[row, column] = value
        return table

    return change


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("runs.csv", {"arm": "mine"}, "runs.csv has rows of the arm mine"),
        ("runs.csv", {"recipe": "mine", "seed": 99, "status": "not run"}, "runs.csv has rows of the recipe mine"),
        ("epochs.csv", {"arm": "mine"}, "epochs.csv has rows of the arm mine"),
        ("epochs.csv", {"seed": 99}, "epochs.csv has rows of a run that runs.csv does not have: no_warmup_low seed 99"),
        (
            "epochs.csv",
            {"identity": "0123abcd", "epoch": 9},
            "does not have: no_warmup_low seed 101, 0123abcd",
        ),
    ],
)
def test_rows_that_no_other_table_names_are_refused(copied, name, change, said):
    folder = copied("small/toy/fig2a")
    assert _denied(folder) is None
    _change(folder, name, lambda table: pd.concat([table, table.iloc[[0]].assign(**change)]))
    assert said in _denied(folder)


def test_measurements_are_of_arms_of_the_recipe(copied):
    folder = copied("theory/toy/fig3")
    _change(folder, "measurements.csv", lambda table: pd.concat([table, table.iloc[[0]].assign(arm="mine")]))
    assert "measurements.csv has rows of the arm mine" in _denied(folder)


@pytest.mark.parametrize(
    "change",
    [_with("outcome", "fails"), _with("bleu_with", 99.5), _with("trained_without", 0), lambda table: table.iloc[1:]],
)
@pytest.mark.parametrize("place", ["small/toy/placements", "small/toy/depth"])
def test_outcomes_are_those_of_the_runs(copied, place, change):
    folder = copied(place)
    _change(folder, "outcomes.csv", change)
    assert "outcomes.csv has other rows than runs.csv gives" in _denied(folder)


@pytest.mark.parametrize(
    ("column", "value", "row", "named"),
    [
        ("attention_logit", 1e6, 3, "max_attention_logit"),
        ("hidden_cosine", 100.0, 3, "max_hidden_cosine"),
        ("sharpness", 1e9, 0, "first_sharpness, max_sharpness"),
        ("update", 10**6, 3, "update"),
    ],
)
def test_snapshots_give_what_runs_state(copied, column, value, row, named):
    folder = copied("small/toy/sharpness")
    _change(folder, "snapshots.csv", _with(column, value, row))
    assert "snapshots.csv gives other numbers than runs.csv states: " in _denied(folder)
    assert f": {named}" in _denied(folder)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_snapshots_give_the_sharpness_of_the_middle_that_runs_state(copied, value):
    def change(table: pd.DataFrame) -> pd.DataFrame:
        row = table.index[(table["update"] == 45) & (table["side"] == "model")][0]
        return _with("sharpness", value, row)(table)

    folder = copied("small/toy/sharpness")
    _change(folder, "snapshots.csv", change)
    assert "snapshots.csv gives other numbers than runs.csv states: " in _denied(folder)
    assert ": middle_sharpness" in _denied(folder)


def test_runs_of_provenance_are_over_in_the_table(copied):
    folder = copied("small/toy/fig2a")
    change_provenance(folder, lambda made: made["runs"].update({"0123abcd": made["runs"]["5067c2ef"]}))
    said = "provenance.json has a run that is not over in runs.csv, or not there: "
    assert f"{said}0123abcd" in _denied(folder)
    change_provenance(folder, lambda made: made["runs"].pop("0123abcd"))
    _change(folder, "runs.csv", _with("status", "failed", row=0))
    assert f"{said}5067c2ef" in _denied(folder), "a run that is hidden"


def test_measurements_have_no_runs_in_provenance(copied):
    folder = copied("theory/toy/fig3")
    change_provenance(folder, lambda made: made["runs"].update(aa={"command": "", "settings": {}, "environment": 0}))
    assert "provenance.json has a run that is not over in runs.csv, or not there: aa" in _denied(folder)


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("runs.csv", "train_pairs", 160239),
        ("runs.csv", "trained_on", "160,239 training pairs"),
        ("runs.csv", "bleu_signature", "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"),
        ("runs.csv", "bleu_signature", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.0"),
        ("epochs.csv", "bleu_signature", "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0"),
    ],
)
def test_a_run_is_of_its_corpus_and_its_metric(copied, name, column, value):
    folder = copied("small/toy/fig2a")
    _change(folder, name, _with(column, value))
    assert f"no_warmup_low seed 10{2 if name == 'runs.csv' else 1}: {column} is not that of its data" in _denied(folder)


@pytest.mark.parametrize(
    ("name", "column", "value", "said"),
    [
        ("runs.csv", "status", "excellent", "no run has such status"),
        ("runs.csv", "test_bleu", 150.0, "no run has such test_bleu"),
        ("epochs.csv", "seconds", -3.0, "no_warmup_low seed 101: seconds"),
        ("epochs.csv", "valid_bleu", -3.0, "no run has such valid_bleu"),
    ],
)
def test_what_no_run_can_have_is_refused(copied, name, column, value, said):
    folder = copied("small/toy/fig2a")
    _change(folder, name, _with(column, value))
    assert said in _denied(folder)


def test_numerics_that_there_are_not_yet_are_refused(copied):
    folder = copied("small/toy/fig2a")
    change_provenance(folder, lambda made: made["environments"][0].update(numerics=99))
    assert "no run has such numerics" in _denied(folder)


@pytest.mark.parametrize("value", [1e308, -1e308])
def test_numbers_that_overflow_are_one_line(copied, value):
    folder = copied("small/toy/radam")
    _change(folder, "runs.csv", lambda table: table.assign(test_bleu=value, max_attention_logit=value))
    assert _denied(folder).startswith(str(folder))


def test_a_machine_without_a_name_is_one_line(copied):
    folder = copied("small/toy/fig2a")
    change_provenance(folder, lambda made: [one.pop("cpu") for one in made["environments"]])
    assert _denied(folder).startswith(str(folder))
