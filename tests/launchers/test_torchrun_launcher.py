"""``hydra/launcher=torchrun``: each run of a sweep in many processes."""

import json

import pytest
from helpers import TINY, run_script
from hydra.core.utils import JobReturn, JobStatus
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

from lnexp.composer import Composer
from lnexp.configuration import compose, hydra_compose
from lnexp.errors import UserError
from lnexp.launchers import torchrun_launcher
from lnexp.launchers.torchrun_launcher import TorchrunLauncher
from lnexp.runs.identity import identity
from lnexp.runs.lock import RunBusyError, held


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


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Launches a run whose first process ends with an exit code, before it has written anything."""

    def launch(code: int) -> JobReturn:
        failure = ProcessFailure(local_rank=0, pid=1, exitcode=code, error_file=str(tmp_path / "none"))

        def fail(*_):
            raise ChildFailedError("train.py", {0: failure})

        monkeypatch.setattr(torchrun_launcher, "_torchrun", fail)
        launcher = TorchrunLauncher(processes=1)
        launcher._composer = Composer(hydra_compose)
        (returned,) = launcher.launch([[*TINY, f"runs_dir={tmp_path}"]], 0)
        return returned

    return launch


def test_a_run_that_is_refused_fails_alone(tmp_path, refused):
    returned = refused(2)
    assert returned.status == JobStatus.FAILED
    with pytest.raises(UserError, match="it was refused"):
        _ = returned.return_value
    with held(tmp_path, identity(compose(TINY))), pytest.raises(RunBusyError, match="another process is training"):
        _ = refused(2).return_value


def test_a_process_that_dies_without_a_word_is_no_refusal(refused):
    with pytest.raises(ChildFailedError):
        refused(1)
