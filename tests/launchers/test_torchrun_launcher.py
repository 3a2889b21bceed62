"""``hydra/launcher=torchrun``: each run of a sweep in many processes."""

import json

import pytest
from helpers import TINY, run_script


@pytest.mark.slow
def test_runs_and_failures_come_back_from_many_processes(tmp_path, where):
    tiny = [option for option in TINY if not option.startswith("warmup")]
    fails = ["lr_schedule=linear", "lr_schedule.total_updates=50", "warmup_updates=1,4000"]
    two = ["hydra/launcher=torchrun", "hydra.launcher.processes=2", "update_freq=2"]
    done = run_script("train", "-m", *fails, *tiny, "max_epoch=1", *where, *two)
    assert done.returncode == 2
    assert "1 of 2 runs failed" in done.stderr
    assert "warmup_updates=4000" in done.stderr
    assert "UserError: optimizer or lr_schedule: total_updates=50: must be more than warmup_updates=4000" in done.stderr
    found = {path.parent: json.loads(path.read_text())["state"] for path in (tmp_path / "runs").glob("*/*/status.json")}
    assert sorted(found.values()) == ["failed", "finished"]
    (finished,) = [folder for folder, state in found.items() if state == "finished"]
    assert json.loads((finished / "environment.json").read_text())["processes"] == 2


@pytest.mark.slow
def test_an_arm_of_a_recipe_is_trained_and_a_finished_one_is_not(tmp_path, where):
    tiny = [option for option in TINY if "warmup" not in option]
    arms = [
        "+recipe=fig3_warmup",
        "n_seeds=1",
        *tiny,
        "scale.warmup_updates.full=2",
        "scale.toy.train_pairs=240",
        *where,
    ]
    one = ["hydra/launcher=torchrun", "hydra.launcher.processes=1"]
    for said in ("2 runs, 0 of them done", "2 runs, 2 of them done"):
        done = run_script("train", "-m", *arms, *one)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
    assert len(list((tmp_path / "runs" / "fig3_warmup").iterdir())) == 2


def test_no_process_is_refused(where):
    done = run_script("train", "-m", *TINY, *where, "hydra/launcher=torchrun", "hydra.launcher.processes=0")
    assert "hydra.launcher.processes=0: must be at least 1" in done.stderr
