"""``scripts/show.py``: one run at a glance."""

import json

import pytest
from helpers import run_script
from hypothesis import given
from hypothesis import strategies as st

from lnexp.commands import show
from lnexp.errors import UserError
from lnexp.runs.find import find_run
from lnexp.runs.folder import RunFolder
from lnexp.runs.run_summary import BARS, sparkline


@given(st.lists(st.none() | st.floats(-1e100, 1e100), max_size=40))
def test_a_bar_a_value_and_the_ends_are_the_ends(values):
    bars = sparkline(values)
    assert len(bars) == len(values)
    known = [(value, bar) for value, bar in zip(values, bars, strict=True) if value is not None]
    assert all(bar == "·" for value, bar in zip(values, bars, strict=True) if value is None)
    if len({value for value, _ in known}) > 1:
        assert min(known)[1] == BARS[0]
        assert max(known)[1] == BARS[-1]


HOW = {"beam": 5, "n_sentences": 20, "averaged_epochs": [1, 2], "averaged_test_bleu": 7.0}


@pytest.fixture
def runs(tmp_path):
    for name in ("post_ln-s1-0123abcd", "post_ln-s2-4567cdef", "pre_ln-s1-89ab0123"):
        folder = RunFolder(tmp_path / "adhoc" / name)
        folder.path.mkdir(parents=True)
        folder.set_status("diverged", "gradients are Nan/Inf", updates=20)
        for epoch, bleu in ((1, 0.5), (2, 7.25)):
            measured = {"valid_loss": 3.0 / epoch, "valid_nll": 2.0, "valid_bleu": bleu, "lr": 1e-3, "seconds": 61.0}
            folder.append({"kind": "epoch", "epoch": epoch, "update": 10 * epoch, **measured})
        folder.append({"kind": "end", "checkpoint_epoch": 2, "test_bleu": 6.5, "test_bleu_tokenised": 6.25, **HOW})
    return tmp_path


@pytest.mark.parametrize("word", ["89ab", "pre_ln", "adhoc/pre_ln-s1-89ab0123"])
def test_a_run_is_meant_by_path_identity_or_name(runs, word):
    found = find_run(str(runs / word) if "/" in word else word, runs)
    assert found.identity == "89ab0123"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("post_ln", "2 runs match: post_ln-s1-0123abcd, post_ln-s2-4567cdef"),
        ("post_lm-s1-0123", "did you mean"),
        ("zz", "there are: post_ln"),
    ],
)
def test_who_is_not_meant_alone_is_named(runs, word, said):
    with pytest.raises(UserError, match=said):
        find_run(word, runs)


def test_state_curves_and_scores_are_shown(runs):
    done = run_script("show", "0123abcd", "--runs", str(runs), env={"COLUMNS": "120"})
    assert done.returncode == 0, done.stderr
    assert "diverged: gradients are Nan/Inf" in done.stdout
    assert "2 epochs, 20 updates, 2:02 on ?" in done.stdout
    (bleu,) = [line for line in done.stdout.splitlines() if line.startswith("valid_bleu")]
    assert bleu.split() == ["valid_bleu", "▁█", "0.5", "7.2", "0.5", "7.2"]
    assert (
        "test BLEU 6.50 (6.25 tokenised; epoch 2, beam 5, 20 sentences); 7.00 by the average of epochs 1, 2"
        in done.stdout
    )


def test_a_run_that_has_only_begun_is_shown_and_a_broken_one_named(runs):
    begun = RunFolder(runs / "adhoc" / "sub_ln-s1-cdef4567")
    begun.path.mkdir()
    begun.set_status("running")
    done = run_script("show", "sub_ln", "--runs", str(runs))
    assert "0 epochs, 0 updates" in done.stdout
    begun.metrics.write_text(json.dumps({"kind": "epoch"}) + "\n")
    done = run_script("show", "sub_ln", "--runs", str(runs))
    assert done.returncode == 2
    assert "metrics.jsonl:1: not a record" in done.stderr


def test_what_a_machine_is_called_is_shown_as_it_is(runs):
    RunFolder(runs / "adhoc" / "pre_ln-s1-89ab0123").write_environment({"device": "[/bold] GPU"})
    done = run_script("show", "89ab", "--runs", str(runs))
    assert "on [/bold] GPU" in done.stdout, done.stderr


def test_what_files_say_is_no_markup(runs, monkeypatch, capsys):
    folder = find_run("89ab0123", runs)
    text = folder.metrics.read_text()
    folder.metrics.write_text(text.replace('"n_sentences": 20', '"n_sentences": "[/red]"'))
    monkeypatch.setattr("sys.argv", ["show.py", "89ab0123", "--runs", str(runs)])
    show.main()
    assert "[/red] sentences" in capsys.readouterr().out
