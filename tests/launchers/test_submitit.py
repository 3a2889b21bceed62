"""Runs as submitit's jobs: the road to a SLURM cluster, proved here with submitit's local executor."""

import json
import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest
import submitit
from helpers import TINY, error_of, only_run, run_script, start, wait_for
from omegaconf import OmegaConf

from lnexp.configuration import register_resolvers
from lnexp.paths import CONFIG_DIR

LAUNCHER = "hydra/launcher=submitit_local"


@pytest.mark.slow
def test_runs_and_failures_come_back_from_submitit(tmp_path, where):
    tiny = [option for option in TINY if not option.startswith("warmup")]
    fails = ["lr_schedule=linear", "lr_schedule.total_updates=50", "warmup_updates=1,4000"]
    done = run_script("train", "-m", *fails, *tiny, "max_epoch=1", *where, LAUNCHER)
    assert done.returncode == 2
    assert "1 of 2 runs failed" in done.stderr
    assert "warmup_updates=4000" in done.stderr
    assert "Traceback" not in done.stderr
    states = [json.loads(path.read_text())["state"] for path in (tmp_path / "runs").glob("*/*-*/status.json")]
    assert sorted(states) == ["failed", "finished"]
    assert not [path for path in (tmp_path / "runs").rglob("*") if "%" in path.name]
    (_launch,) = (tmp_path / "runs" / ".sweeps" / "submitit").iterdir()


def test_a_launch_has_a_folder_that_nobody_could_have_filled():
    """submitit loads pickles from it: see https://github.com/facebookincubator/submitit, ``Job.result``."""
    register_resolvers()
    for name in ("submitit_local", "submitit_slurm"):
        settings = OmegaConf.load(CONFIG_DIR / f"hydra/launcher/{name}.yaml")
        cfg = OmegaConf.create({"hydra": {"sweep": {"dir": "runs"}, "launcher": settings}})
        found = {cfg.hydra.launcher.submitit_folder for _ in range(3)}
        assert len(found) == 3
        assert all(re.fullmatch(r"runs/submitit/[0-9a-f]{32}", folder) for folder in found)


@pytest.mark.slow
def test_a_preempted_run_is_queued_again_and_goes_on(tmp_path, where):
    sweep = start("-m", *TINY, "max_epoch=20", "seed=1", *where, LAUNCHER)
    # any after the fourth: each is there for a moment alone, until the next one is
    checkpoint = wait_for(lambda: next((tmp_path / "runs").glob("adhoc/*/checkpoints/checkpoint[5-9].pt"), None))
    status = json.loads((checkpoint.parents[1] / "status.json").read_text())
    os.kill(status["pid"], signal.SIGUSR2)  # what SLURM sends before it takes the machine away
    assert sweep.wait(300) == 0
    folder = only_run(tmp_path)
    after = json.loads((folder / "status.json").read_text())
    assert after["state"] == "finished"
    assert after["pid"] != status["pid"]
    epochs = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in epochs if record["kind"] == "epoch"] == list(range(1, 21))
    said = "".join(path.read_text() for path in (tmp_path / "runs").rglob("*_log.out"))
    # the signal comes when it comes: at the end of an epoch or within it
    assert re.search(r"resumes (with epoch ([5-9]|\d\d)|within epoch \d+, after update [1-9]\d*)", said)


@pytest.mark.slow
def test_a_lost_job_is_submitted_again_and_no_other(tmp_path, where):
    sweep = start("-m", *TINY, "max_epoch=20", "seed=1,2", *where, LAUNCHER)
    runs = tmp_path / "runs"
    wait_for(lambda: len({path.parents[1] for path in runs.glob("adhoc/*/checkpoints/checkpoint?.pt")}) == 2)
    folder = min(runs.glob("adhoc/*"))
    os.kill(json.loads((folder / "status.json").read_text())["pid"], signal.SIGKILL)
    output, _ = sweep.communicate(300)
    assert sweep.returncode == 0
    assert output.count("a process of this sweep died") == 1
    assert {json.loads(path.read_text())["state"] for path in runs.glob("adhoc/*/status.json")} == {"finished"}
    assert len(list((runs / ".sweeps").rglob("*_submitted.pkl"))) == 3, "two, and the lost one again"


@pytest.mark.slow
def test_the_tasks_of_a_job_train_one_run_together_and_go_on_after_a_preemption(tmp_path, where):
    """As on many nodes: submitit says which task each process is. What SLURM signals, it signals to all of them."""
    several = ["hydra.launcher.tasks_per_node=2", "max_tokens=30", "update_freq=2", "fairseq.common.log_interval=1"]
    sweep = start("-m", *TINY, "max_epoch=10", *several, *where, LAUNCHER)
    wait_for(lambda: next((tmp_path / "runs").glob("adhoc/*/checkpoints/checkpoint[2-5].pt"), None))
    folder = only_run(tmp_path)
    tasks = tasks_of(tmp_path)
    assert len(tasks) == 2
    for pid in tasks:
        os.kill(pid, signal.SIGUSR2)
    assert sweep.wait(300) == 0
    assert json.loads((folder / "status.json").read_text())["state"] == "finished"
    assert json.loads((folder / "environment.json").read_text())["processes"] == 2
    epochs = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in epochs if record["kind"] == "epoch"] == list(range(1, 11))
    said = "".join(path.read_text() for path in (tmp_path / "runs").rglob("*_log.out"))
    assert "1 of them in each of 2 processes" in said
    assert "received a signal: saved after update" in said
    assert "resumes with" in said


def tasks_of(tmp_path) -> list[int]:
    """The processes of the job, by what submitit tells them."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            started = str(tmp_path) in (path / "cmdline").read_text()
            if started and "SUBMITIT_LOCAL_GLOBALID=" in (path / "environ").read_text():
                found.append(int(path.name))
    return found


def test_what_slurm_is_told(tmp_path, monkeypatch):
    """One GPU a run, a signal before the time is up, and again into the queue when preempted."""
    settings = OmegaConf.load(CONFIG_DIR / "hydra/launcher/submitit_slurm.yaml")
    settings.cpus_per_task = 8
    ours = {key: value for key, value in OmegaConf.to_container(settings, resolve=False).items() if value is not None}
    shared = {"name", "nodes", "tasks_per_node", "gpus_per_node", "cpus_per_task", "mem_gb", "timeout_min"}
    for key in ("_target_", "submitit_folder", "max_num_timeout"):
        ours.pop(key)
    monkeypatch.setattr(submitit.SlurmExecutor, "affinity", classmethod(lambda cls: 1))
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    executor = submitit.AutoExecutor(cluster="slurm", folder=tmp_path)
    executor.update_parameters(**{key if key in shared else f"slurm_{key}": value for key, value in ours.items()})
    script = executor._executor._make_submission_file_text("train", "uid")
    for line in ("--gpus-per-node=1", "--cpus-per-task=8", "--requeue", "--signal=USR2@120", "--time=1440"):
        assert f"#SBATCH {line}\n" in script, script
    assert "--kill-on-bad-exit=1" in script.partition("\nsrun ")[2].splitlines()[0]


@pytest.fixture
def login_node(tmp_path, monkeypatch) -> None:
    """Commands of SLURM, of which ``sbatch`` refuses every job."""
    for name in ("srun", "sbatch"):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\necho 'invalid partition specified: nowhere' >&2\nexit 1\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


@pytest.mark.usefixtures("login_node")
def test_a_node_without_a_gpu_submits_runs_that_need_one_and_says_why_they_are_refused(tmp_path, where):
    paper = [
        "profile=paper",
        "data=toy",
        "n_seeds=1",
        "arms=warmup_low",
        "scale.toy={train_pairs: 9, valid_pairs: 9, test_pairs: 9}",
    ]
    done = run_script("train", "-m", "+recipe=fig2a", *paper, *where, "hydra/launcher=submitit_slurm")
    assert done.returncode == 2
    assert done.stderr.endswith("error: sbatch refuses the jobs: invalid partition specified: nowhere\n")
    assert "Traceback" not in done.stderr
    assert "1 run, " in done.stdout


def test_outside_of_a_cluster_it_is_said_in_one_line(tmp_path, where, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # without srun
    done = run_script("train", "-m", "model=post_ln,pre_ln", "hydra/launcher=submitit_slurm", *TINY, *where)
    said = "=submitit_slurm: no srun here, as outside of a cluster; take submitit_local, joblib or array"
    assert error_of(done).endswith(said)
    assert not (tmp_path / "runs").exists()
