"""Reading run folders: every state a folder can be in."""

import json

import pytest

from lnexp.configuration import compose
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.collect import collect
from lnexp.runs.folder import RunFolder

AT = {"lr": 0.1, "seconds": 1.0}


@pytest.fixture
def overrides(tmp_path):
    return [f"runs_dir={tmp_path}", "n_seeds=1"]


@pytest.fixture
def folder(overrides) -> RunFolder:
    """The folder of fig2a's arm ``warmup_low``, the first seed, with one epoch in it."""
    recipe = load_recipe("fig2a")
    job = Job(recipe, "small", recipe.arms["warmup_low"], seed=recipe.planned_at("small").start)
    folder = RunFolder.of(compose([*overrides, *job.overrides]))
    folder.path.mkdir(parents=True)
    folder.append(
        {"kind": "epoch", "epoch": 1, "update": 60, "valid_bleu": 5.0, "valid_nll": 1.0, "valid_loss": 1.5, **AT}
    )
    folder.write_environment({"cpu": "a processor", "device": "cpu", "data": {}, "git": {}})
    return folder


def result(overrides):
    (found,) = [run for run in collect(load_recipe("fig2a"), overrides) if run.job.arm.name == "warmup_low"]
    return found


def test_nothing_there_is_not_run(overrides):
    assert {run.state for run in collect(load_recipe("fig2a"), overrides)} == {"not run"}


def test_runs_of_arms_that_are_not_asked_for_are_left_out(overrides):
    found = collect(load_recipe("fig2a"), [*overrides, "arms=*_high"])
    assert [run.job.arm.name for run in found] == ["no_warmup_high", "warmup_high"]


def test_a_finished_run_has_its_records(overrides, folder):
    folder.append({"kind": "end", "test_bleu": 4.0})
    folder.set_status("finished", updates=60)
    found = result(overrides)
    assert found.counts
    assert found.epochs[0]["valid_bleu"] == 5.0
    assert found.end["test_bleu"] == 4.0


@pytest.mark.parametrize(("device", "core_seconds"), [("cpu", 1.0), ("NVIDIA H200", None)])
def test_what_a_run_took_is_a_cores_time_on_a_cpu_alone(overrides, folder, device, core_seconds):
    folder.append({"kind": "end", "test_bleu": 4.0})
    folder.set_status("finished", updates=60)
    folder.write_environment({"cpu": "a processor", "device": device, "data": {}, "git": {}})
    assert result(overrides).core_seconds == core_seconds


def test_a_cut_last_line_is_passed_over(overrides, folder):
    with folder.metrics.open("a") as file:
        file.write('{"kind": "epoch", "epo')
    folder.set_status("running")
    found = result(overrides)
    assert (found.state, len(found.epochs), found.counts) == ("running", 1, False)


@pytest.mark.parametrize("file", ["metrics.jsonl", "status.json", "environment.json"])
def test_a_malformed_file_is_said_not_raised(overrides, folder, file):
    folder.append({"kind": "end", "test_bleu": 4.0})
    folder.set_status("finished", updates=60)
    (folder.path / file).write_text("nonsense\n" + json.dumps({"kind": "end"}) + "\n")
    found = result(overrides)
    assert found.state == "malformed"
    assert file in found.problem
    assert not found.counts


def test_an_epoch_that_is_missing_is_malformed_unless_the_run_validates_more_rarely(overrides, folder):
    folder.append(folder.epochs()[0] | {"epoch": 3, "update": 180})
    folder.append({"kind": "end", "test_bleu": 4.0})
    folder.set_status("finished", updates=240)
    assert "does not have every epoch" in result(overrides).problem
    sparse = [*overrides, "fairseq.dataset.validate_interval=2"]
    folder.path.rename(RunFolder.of(compose([*sparse, *result(sparse).job.overrides])).path)
    assert result(sparse).state == "finished"
