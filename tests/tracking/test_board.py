"""The board's definition, as wandb would be sent it."""

import json
import re

import pytest
from helpers import error_of, run_script

from lnexp.tasks import all_tasks
from lnexp.tracking.board import GROUPS, board
from lnexp.tracking.tracker import chart_name


@pytest.fixture(scope="module")
def definition() -> dict:
    done = run_script("wandb_board", "me", "--project", "mine", "--dry-run")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_is_a_board_of_the_users_project(definition):
    assert (definition["entity"], definition["project"]) == ("me", "mine")
    names = [section["name"] for section in definition["spec"]["section"]["panelBankConfig"]["sections"]]
    assert "Figures of the paper" in names
    assert "Translations by epoch" in names
    assert [one for one in GROUPS if one in json.dumps(definition["spec"]["section"]["runSets"])] == list(GROUPS)


def test_losses_are_named_by_what_tasks_predict(definition):
    assert "validation nll (nats a hidden word, pair or token)" in json.dumps(definition)


@pytest.mark.slow
def test_it_shows_nothing_that_runs_do_not_say(resumed, inspect):
    read = inspect(next((resumed / "wandb").glob("offline-run-*")))
    told = {key for one in read if one["type"] == "history" for key in one["history"]["item"]}
    told |= {key for one in read if one["type"] == "summary" for key in one["summary"].get("update", {})}
    others = [task.score for task in all_tasks() if task.score.valid != "valid_bleu"]
    of_other_tasks = {key for score in others for key in (chart_name(score.valid), score.best, score.test)}
    for section in board("me", "mine").sections:
        for panel in section.panels:
            if regex := getattr(panel, "metric_regex", None):
                assert any(re.fullmatch(regex, key) for key in told), regex
            shown = [
                getattr(metric, "name", metric) for metric in [*getattr(panel, "y", []), *getattr(panel, "metrics", [])]
            ]
            assert set(shown) <= told | of_other_tasks
            assert getattr(panel, "table_name", "samples") in {key.partition("._")[0] for key in told}


def test_without_a_key_it_is_said_in_a_line(tmp_path):
    nothing = {"WANDB_API_KEY": "", "HOME": str(tmp_path), "NETRC": str(tmp_path / "netrc")}
    done = run_script("wandb_board", "me", env=nothing)
    assert "wandb login" in error_of(done)
