"""What the rest of lnexp takes from a task."""

import inspect
import json
import subprocess
import sys

import pytest

from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.tasks import all_tasks, load_task, task_of
from lnexp.tasks.contract import Score
from lnexp.tasks.diagnosed import DIAGNOSED
from lnexp.tasks.measures import measures_of

ACCURACY = Score("accuracy", "accuracy", low=0, high=1, places=3)
COMMON = {"kind": "epoch", "epoch": 1, "update": 1, "valid_loss": 1.0, "valid_nll": 1.0, "lr": 0.1, "seconds": 1.0}


def test_the_names_of_a_score_follow_from_its_own():
    names = ACCURACY.valid, ACCURACY.best, ACCURACY.last, ACCURACY.test, ACCURACY.averaged_test
    assert names == (
        "valid_accuracy",
        "best_valid_accuracy",
        "last_valid_accuracy",
        "test_accuracy",
        "averaged_test_accuracy",
    )
    assert ACCURACY.text(0.12345) == "0.123"


def test_claims_can_ask_the_score_the_loss_and_the_layers_of_every_side():
    assert set(measures_of(load_task("translation"))) == {
        "best_bleu",
        "last_bleu",
        "early_bleu",
        "test_bleu",
        "averaged_test_bleu",
        "diverged",
        "best_loss",
        "early_loss",
        "early_nll",
        "last_loss",
        "best_nll",
        "last_nll",
        "gradient_change",
        "mean_gradient_change",
        "encoder_state_exponent",
        "decoder_state_exponent",
        *DIAGNOSED,
    }


def test_the_light_half_needs_neither_torch_nor_fairseq():
    code = "import sys; from lnexp.tasks import all_tasks; all_tasks(); print({'torch', 'fairseq'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_an_unknown_task_is_refused_with_a_near_one():
    with pytest.raises(UserError, match="task=translatoin: no such task; did you mean translation"):
        task_of({"task": "translatoin"})
    assert task_of({}) is load_task("translation"), "a config from before there were tasks"


@pytest.fixture
def two_tasks(monkeypatch):
    """Translation, and a task with another score."""
    other = type("Other", (type(load_task("translation")),), {"score": ACCURACY, "test_fields": (), "epoch_fields": ()})
    monkeypatch.setattr(records, "all_tasks", lambda: [*all_tasks(), other()])
    records._task_fields.cache_clear()
    yield
    records._task_fields.cache_clear()


@pytest.mark.parametrize(
    ("measured", "is_record"),
    [
        ({"valid_bleu": 97.0}, True),
        ({"valid_bleu": 97.0, "whole_valid_bleu": 101.0}, False),
        ({"valid_accuracy": 0.5}, True),
        ({"valid_accuracy": None}, True),
        ({"valid_accuracy": 97.0}, False),
        ({"valid_accuracy": "much"}, False),
        ({}, False),
    ],
)
def test_a_record_is_one_of_some_task(tmp_path, two_tasks, measured, is_record):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(COMMON | measured) + "\n")
    if is_record:
        assert records.read(path) == [COMMON | measured]
    else:
        with pytest.raises(UserError, match=r"metrics\.jsonl:1: not a record"):
            records.read(path)


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_measures_of_losses_say_what_the_task_predicts(task):
    measures = measures_of(task)
    for name in (f"{when}_{what}" for when in ("best", "early", "last") for what in ("loss", "nll")):
        assert task.loss_of in (inspect.getdoc(measures[name]) or ""), name
