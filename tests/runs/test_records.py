"""``metrics.jsonl`` survives a kill at any byte."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.errors import UserError
from lnexp.runs import records

MEASURED = {"valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 3.0, "lr": 0.1, "seconds": 1.0}


def epoch(number: int, **values) -> records.Record:
    return {"kind": "epoch", "epoch": number, "update": 10 * number, **MEASURED, **values}


def test_records_come_back_in_order_with_kind_first(tmp_path):
    path = tmp_path / "metrics.jsonl"
    for number in (1, 2):
        records.append(path, {"epoch": number, "kind": "epoch", "update": 1, **MEASURED})
    assert [record["epoch"] for record in records.read(path)] == [1, 2]
    assert all(line.startswith('{"kind"') for line in path.read_text().splitlines())


def test_no_file_is_no_records(tmp_path):
    assert records.read(tmp_path / "metrics.jsonl") == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (records.to_line(epoch(2)).replace("}", ', "valid_nll": 0.1}'), r"not a record \(the key 'valid_nll' twice\)"),
        (records.to_line(epoch(1)), "it has an epoch twice"),
        (records.to_line({"kind": "end", "test_bleu": 9.0}), "it has an end twice"),
    ],
)
def test_what_is_there_twice_is_named(tmp_path, line, why):
    path = tmp_path / "metrics.jsonl"
    path.write_text(records.to_line(epoch(1)) + records.to_line({"kind": "end", "test_bleu": 1.0}) + line)
    with pytest.raises(UserError, match=rf"metrics\.jsonl:3: {why}; force=true trains the run afresh"):
        records.read(path)


@given(cut=st.integers(0, 200))
def test_a_file_cut_anywhere_gives_its_whole_lines(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "metrics.jsonl"
    whole = [epoch(number) for number in range(1, 5)]
    text = "".join(map(records.to_line, whole))
    path.write_text(text[:cut])
    assert records.read(path) == whole[: text[:cut].count("\n")]


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(records.to_line(epoch(1)) + "{oops\n" + records.to_line(epoch(2)))
    with pytest.raises(UserError, match=r"metrics\.jsonl:2: not a record"):
        records.read(path)


@pytest.mark.parametrize(
    "broken",
    [
        {"grad_norm": "x"},
        {"tokens_per_second": [1]},
        {"valid_bleu": True},
        {"time": "yesterday"},
        {"time": 5},
        {"epoch": "1"},
        {"epoch": True},
        {"update": -1},
        {"seconds": "1"},
        {"members": 0},
        {"time": "2026-01-01T00:00:00"},
        {"commit": 5},
        {"kind": "probe", "side": "encoder"},
        {"kind": "probe", "layer": 1},
        {"kind": "probe", "side": "encoder", "layer": 1, "grad_norm": "x"},
        {"kind": "updates", "train_loss": [1.0], "grad_norm": 1.0},
        {"kind": "updates", "train_loss": [1.0], "grad_norm": [1.0, 2.0]},
        {"kind": "updates", "train_loss": [], "grad_norm": []},
        {"kind": "updates", "train_loss": ["x"], "grad_norm": [1.0]},
        {"kind": "snapshot"},
        {"kind": "end", "test_bleu": 1.0, "averaged_epochs": "1 2"},
        {"kind": "something"},
        {"kind": []},
    ],
)
def test_a_record_says_numbers_where_it_should(tmp_path, broken):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(epoch(1) | broken) + "\n")
    with pytest.raises(UserError, match=r"metrics\.jsonl:1: not a record"):
        records.read(path)


@pytest.mark.parametrize(
    "value", ["1e400", "1e308", "1" + "0" * 98, "1" + "0" * 400, "9" * 5000, "[" * 5000 + "]" * 5000]
)
def test_a_number_beyond_all_numbers_is_no_record(tmp_path, value):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(epoch(1) | {"grad_norm": "x"}).replace('"x"', value) + "\n")
    with pytest.raises(UserError, match=r"metrics\.jsonl:1: not a record"):
        records.read(path)


def test_what_a_terminal_would_obey_is_escaped(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(epoch(1) | {"bleu_signature": "\x1b[2J\ud800"}) + "\n")
    assert records.read(path)[0]["bleu_signature"] == r"\x1b[2J\ud800"


@pytest.mark.parametrize("escaped", [True, False])
def test_what_would_turn_text_around_is_escaped(tmp_path, escaped):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(epoch(1, bleu_signature="\u202egpj"), ensure_ascii=escaped) + "\n")
    assert records.read(path)[0]["bleu_signature"] == r"\u202egpj"


def test_what_would_not_be_read_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="members"):
        records.append(tmp_path / "metrics.jsonl", epoch(1, members=0))
    assert not (tmp_path / "metrics.jsonl").exists()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(value):
    assert json.loads(records.to_line(epoch(1, valid_loss=value)))["valid_loss"] is None


def test_lists_of_numbers_come_back_with_null_for_what_is_not_finite(tmp_path):
    path = tmp_path / "metrics.jsonl"
    where = {"epoch": 1, "update": 2}
    records.append(path, {"kind": "updates", **where, "train_loss": [1.5, math.inf], "grad_norm": [2.0, math.nan]})
    records.append(path, {"kind": "snapshot", **where, "log_z.output": [math.nan]})
    updates, snapshot = records.read(path)
    assert (updates["train_loss"], updates["grad_norm"]) == ([1.5, None], [2.0, None])
    assert snapshot["log_z.output"] == [None]


def test_resuming_drops_later_epochs_the_end_and_half_a_line(tmp_path):
    path = tmp_path / "metrics.jsonl"
    for record in (epoch(1), epoch(2), epoch(3), {"kind": "end", "test_bleu": 1.0}):
        records.append(path, record)
    with path.open("a") as file:
        file.write('{"kind": "epo')
    records.keep_until(path, 2, 0)
    assert [record["epoch"] for record in records.read(path)] == [1, 2]
    records.append(path, {"kind": "probe", "epoch": 1, "update": 0, "side": "encoder", "layer": 1})
    records.keep_until(path, 0, 0)
    assert path.read_text() == ""


def test_core_seconds_are_the_threads_of_a_run_and_its_share_of_an_array():
    alone, shared = epoch(1, seconds=10.0), epoch(2, seconds=8.0, members=4)
    assert records.core_seconds([alone, shared], threads=1) == 12.0
    assert records.core_seconds([alone, epoch(2, seconds=None)], threads=2) == 20.0
