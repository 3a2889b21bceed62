"""A sweep that cannot be lost: killed at random, shared by two, short of disk, it ends as an undisturbed one."""

import json
import os
import random
import signal
import time
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

import pytest
from helpers import TINY, run_script, start, wait_for, without_times
from warm_commands import WarmProcess

KILLS = 10
TINY_RUNS = ["-m", *TINY, "max_epoch=8", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
#: Runs that are told apart by their seeds.
RUNS = 6
SWEEP = [*TINY_RUNS, f"seed=range(1,{RUNS + 1})"]
#: Said of a field that a record does not have.
NOTHING = "absent"


def begin(where) -> WarmProcess:
    return start(*SWEEP, *where, start_new_session=True)


def processes(sweeps: list[WarmProcess]) -> set[int]:
    """All that live of these sweeps: they themselves, their workers and theirs."""
    sessions = {sweep.pid for sweep in sweeps}
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = path.read_text().rpartition(") ")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) in sessions and state != "Z":
            found.add(int(path.parent.name))
    return found


def training(runs_dir: Path, sweeps: list[WarmProcess]) -> set[int]:
    """Those of them that train a run, and have a checkpoint of it already."""
    found = [json.loads(path.read_text()) for path in runs_dir.glob("*/*-*/status.json") if any_checkpoint(path.parent)]
    return {status["pid"] for status in found if status["state"] == "running"} & processes(sweeps)


def wait_for_training(runs_dir: Path, sweeps: list[WarmProcess]) -> None:
    while sweeps[-1].poll() is None and not training(runs_dir, sweeps):
        time.sleep(0.1)


def any_checkpoint(folder: Path) -> bool:
    return any((folder / "checkpoints").glob("checkpoint[0-9]*.pt"))


def curves(runs_dir: Path) -> dict[str, list[dict]]:
    """Every record of every run but for what a clock says; a line that is no record fails."""
    return {
        path.parent.name: [without_times(json.loads(line)) for line in path.read_text().splitlines()]
        for path in runs_dir.glob("*/*-*/metrics.jsonl")
    }


def differences(runs_dir: Path, expected: dict[str, list[dict]], runs: int = RUNS) -> list[str]:
    """What the runs' records say other than expected, in few words: a log is cut where it is long."""
    found = curves(runs_dir)
    assert found.keys() <= expected.keys()
    assert len(found) == runs
    return [
        f"{name}, record {number}: {key} is {ours.get(key, NOTHING)}, not {theirs.get(key, NOTHING)}"
        for name in found
        for number, (ours, theirs) in enumerate(zip_longest(found[name], expected[name], fillvalue={}))
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key, NOTHING) != theirs.get(key, NOTHING)
    ]


def states(runs_dir: Path) -> list[str]:
    return [json.loads(path.read_text())["state"] for path in runs_dir.glob("*/*-*/status.json")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The curves of a sweep that nobody kills."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run_script("train", *SWEEP, f"runs_dir={folder / 'runs'}", f"data_dir={folder / 'data'}")
    assert done.returncode == 0, done.stderr
    assert len(curves(folder / "runs")) == RUNS
    return curves(folder / "runs")


@pytest.mark.slow
def test_workers_that_wait_for_a_first_job_end_with_a_killed_sweep(tmp_path, where):
    sweep = start(*TINY_RUNS, "hydra.launcher.n_jobs=3", "seed=1", "max_epoch=1000", *where, start_new_session=True)
    wait_for_training(tmp_path / "runs", [sweep])
    os.kill(sweep.pid, signal.SIGKILL)
    sweep.wait()
    wait_for(lambda: not processes([sweep]))


@pytest.mark.slow
def test_a_sweep_that_is_killed_at_random_ends_as_an_undisturbed_one(tmp_path, undisturbed):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}"]
    chance = random.Random(20200212)
    sweeps, killed = [begin(where)], 0
    while killed < KILLS:
        if chance.random() < 0.6:  # most moments of a sweep that is not killed all the time are moments of training
            wait_for_training(tmp_path / "runs", sweeps)
        time.sleep(chance.uniform(0, 1))
        working, living = training(tmp_path / "runs", sweeps), processes(sweeps)
        if victims := sorted(working if working and chance.random() < 0.6 else living):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(chance.choice(victims), signal.SIGKILL)
                killed += 1
        if sweeps[-1].poll() is not None:
            sweeps.append(begin(where))
    sweeps[-1].wait(400)
    left_alone = run_script("train", *SWEEP, *where)
    assert left_alone.returncode == 0, left_alone.stderr
    assert states(tmp_path / "runs") == ["finished"] * RUNS
    assert differences(tmp_path / "runs", undisturbed) == []
    assert sum(count_in_logs(tmp_path, "Loaded checkpoint")) >= 3, "some went on from where they were killed"
    nothing_is_left_over(tmp_path / "runs")


def nothing_is_left_over(runs_dir: Path) -> None:
    for folder in runs_dir.glob("*/*-*"):
        kept = {path.name for path in (folder / "checkpoints").iterdir()}
        checkpoints = {name for name in kept if name.removeprefix("checkpoint").removesuffix(".pt").isdigit()}
        assert kept == checkpoints | {f"{name}.sha256" for name in checkpoints}
        assert not list(folder.glob(".*"))


@pytest.mark.slow
def test_two_that_start_the_same_sweep_share_it(tmp_path, undisturbed):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}"]
    both = [begin(where), begin(where)]
    assert [sweep.wait(300) for sweep in both] == [0, 0]
    assert differences(tmp_path / "runs", undisturbed) == []
    assert count_in_logs(tmp_path, "begin training epoch 1\n") == [1] * RUNS, "no run was done twice"


def count_in_logs(tmp_path, words: str) -> list[int]:
    return [path.read_text().count(words) for path in (tmp_path / "runs").glob("*/*-*/train.log")]


@pytest.mark.slow
def test_a_quota_hit_in_the_middle_of_a_checkpoint(tmp_path, undisturbed):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}"]

    three = [*TINY_RUNS, "seed=range(1,4)", *where]
    full = run_script("train", *three, largest_file=100_000)
    assert full.returncode == 2
    assert "3 of 3 runs failed" in full.stderr
    assert "File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert states(tmp_path / "runs") == ["failed"] * 3
    with_room = run_script("train", *three)
    assert with_room.returncode == 0, with_room.stderr
    assert differences(tmp_path / "runs", undisturbed, runs=3) == []
    nothing_is_left_over(tmp_path / "runs")
