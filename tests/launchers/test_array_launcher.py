"""One word on the command line trains a sweep as arrays; what is left behind is what single runs leave."""

import json
import signal
import weakref

import pytest
import torch
from helpers import TINY, make_whole, run_script, start, wait_for, without_times

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.launchers.array_launcher import ArrayLauncher
from lnexp.runs import own_files, records
from lnexp.runs.checksum import write_checksum
from lnexp.runs.code import digests
from lnexp.runs.common_epoch import common_epoch
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.lock import held
from lnexp.training import run as training_run

pytestmark = pytest.mark.slow

SWEEP = ["-m", *TINY, "max_epoch=2", "lr_max=1e-3,1e30", "optimizer=adam,sgd", "model=post_ln,pre_ln"]


def sweep(where, *overrides: str):
    return run_script("train", *SWEEP, *where, *overrides)


def states(runs_dir) -> dict[str, str]:
    return {identity: RunFolder(path).status["state"] for identity, path in find_folders(runs_dir).items()}


def test_a_sweep_in_arrays_leaves_what_single_runs_leave(tmp_path, where, prepared):
    alone = ["runs_dir=" + str(tmp_path / "alone"), f"data_dir={prepared}"]
    together = sweep(where, "hydra/launcher=array", "-v")
    assert together.returncode == 0, together.stderr
    assert together.stdout.count("one of 4 in an array") == 8
    assert sweep(alone).returncode == 0
    assert states(tmp_path / "runs") == states(tmp_path / "alone")
    assert set(states(tmp_path / "runs").values()) == {"diverged", "finished"}
    singles = find_folders(tmp_path / "alone")
    for identity, path in find_folders(tmp_path / "runs").items():
        mine, single = RunFolder(path), RunFolder(singles[identity])
        assert path.name == singles[identity].name
        assert {file.name for file in path.iterdir()} == {file.name for file in singles[identity].iterdir()}
        assert mine.saved.epochs() == single.saved.epochs()
        assert mine.status["updates"] == single.status["updates"]
        assert len(mine.environment["array"]) == 4
        for one, other in zip(mine.epochs(), single.epochs(), strict=True):
            assert one.pop("members") == 4
            assert one.keys() == other.keys()
            assert one["valid_loss"] == pytest.approx(other["valid_loss"], rel=1e-3)
    again = sweep(where, "hydra/launcher=array")
    assert again.returncode == 0
    assert "8 of them done already" in " ".join(again.stdout.split())
    assert "epoch" not in again.stdout


def curves(runs_dir) -> dict[str, list]:
    """Every run's epochs, without what a clock says."""

    folders = find_folders(runs_dir)
    return {identity: list(map(without_times, RunFolder(path).epochs())) for identity, path in folders.items()}


KILLED = ["-m", *TINY, "max_epoch=4", "max_tokens=60", "lr_max=1e-3,2e-3,4e-3,8e-3", "hydra/launcher=array"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, prepared) -> dict[str, list]:
    """The curves of a sweep that nobody kills."""
    runs = tmp_path_factory.mktemp("undisturbed")
    done = run_script("train", *KILLED, f"data_dir={prepared}", f"runs_dir={runs}")
    assert done.returncode == 0, done.stderr
    return curves(runs)


@pytest.mark.parametrize("moment", ["metrics.jsonl", "checkpoints/checkpoint2.pt"])
def test_a_killed_sweep_goes_on_as_if_undisturbed(tmp_path, where, undisturbed, moment):
    """Killed when the first member has its first record, and when it has its second checkpoint."""
    process = start(*KILLED, *where)
    wait_for(lambda: any(path.stat().st_size for path in (tmp_path / "runs").glob(f"*/*-*/{moment}")))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was on its way"
    again = run_script("train", "-v", *KILLED, *where)
    assert again.returncode == 0, again.stderr
    assert "one of 4 in an array" in again.stdout
    assert curves(tmp_path / "runs") == undisturbed
    assert set(states(tmp_path / "runs").values()) == {"finished"}


def launcher_of(overrides: list[list[str]], where) -> ArrayLauncher:
    """A launcher as Hydra sets one up."""
    launcher = ArrayLauncher(max_members=16)
    launcher._composer = type("Composer", (), {"compose": staticmethod(lambda job: compose([*TINY, *where, *job]))})()
    return launcher


def test_a_failing_group_takes_no_other_down(where, monkeypatch):
    def train(members, *_):
        if members[0].cfg.model._name == "lnexp_pre_ln":
            raise RuntimeError("broken")
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [[f"model={model}", f"lr_max={rate}"] for rate in (1, 2) for model in ("pre_ln", "post_ln")]
    returns = launcher_of(jobs, where).launch(jobs, 0)
    assert [job.status.name for job in returns] == ["FAILED", "COMPLETED", "FAILED", "COMPLETED"]
    with pytest.raises(RuntimeError, match="broken"):
        _ = returns[0].return_value


def test_small_groups_are_trained_first(where, monkeypatch):
    trained = []

    def train(members, *_):
        trained.append([member.cfg.model._name for member in members])
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [["model=post_ln", "lr_max=1"], ["model=post_ln", "lr_max=2"], ["model=pre_ln", "lr_max=1"]]
    launcher_of(jobs, where).launch(jobs, 0)
    assert trained == [["lnexp_pre_ln"], ["lnexp_post_ln"] * 2]


def test_several_processes_train_an_array_each(tmp_path, where):
    words = [*TINY, "max_epoch=1", "lr_max=1e-3,2e-3", "seed=1,2", "hydra/launcher=array", "hydra.launcher.processes=2"]
    done = run_script("train", "-m", "-v", *words, *where)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("one of 2 in an array") == 4
    assert list(states(tmp_path / "runs").values()) == ["finished"] * 4
    logs = [json.loads((path / "status.json").read_text()) for path in find_folders(tmp_path / "runs").values()]
    assert len({log["pid"] for log in logs}) == 2, "each in a process of its own"


def test_an_array_too_big_for_the_memory_is_halved(where, monkeypatch, capsys):
    sizes, forced, arrays = [], [], weakref.WeakSet()

    class Array:
        """What fills the memory."""

    def train(members, *_):
        assert not arrays, "what an earlier attempt held is free again"
        assert not any(member.folder.status.get("state") == "failed" for member in members), "it is tried again"
        sizes.append(len(members))
        forced.extend(member.cfg.force for member in members)
        if len(members) == 5:
            torch.save({}, members[0].folder.saved.of_epoch(1))
        array = Array()
        array.itself = array  # in a cycle, as a trainer is
        arrays.add(array)
        if len(members) > 2:
            try:
                raise ValueError
            except ValueError:
                raise torch.OutOfMemoryError("too big")  # noqa: B904
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [[f"lr_max={rate}", "force=true"] for rate in range(1, 6)]
    returns = launcher_of(jobs, where).launch(jobs, 0)
    assert sizes == [5, 3, 2, 1, 2]
    halves = [[True] * 5, [False, True, True], [False, True], [True], [True, True]]
    assert forced == [one for half in halves for one in half], "what the whole array has trained of a run is kept"
    assert {job.status.name for job in returns} == {"COMPLETED"}
    assert "an array of 5 does not fit into memory" in capsys.readouterr().out


@pytest.mark.parametrize("most", [0, "two", True])
def test_the_size_of_an_array_is_a_whole_number(most):
    with pytest.raises(UserError, match=rf"hydra\.launcher\.max_members={most}: must be"):
        ArrayLauncher(most)


def begun(cfg) -> RunFolder:
    """The folder of a run that this code has begun."""
    folder = RunFolder.of(cfg)
    folder.checkpoints.mkdir(parents=True)
    folder.write_environment(environment("cpu", {}) | {"code": digests(cfg)})
    return folder


#: What an array refuses.
AMP = "fairseq.common.amp=true"


def test_a_refusal_costs_no_checkpoint(where):
    """The same run was begun alone; an array cannot have its precision."""
    job = [AMP]
    folder = begun(compose([*TINY, *where, *job]))
    within = folder.saved.within(1, 3)
    make_whole(within)
    write_checksum(within)
    (outcome,) = launcher_of([job], where).launch([job], 0)
    assert "an array knows False alone" in str(outcome._return_value)
    assert within.exists()


@pytest.mark.parametrize("state", ["finished", "running"])
def test_a_refusal_costs_a_run_nothing_that_was_to_be_trained_afresh(where, state):
    job = [AMP, "force=true"]
    folder = begun(compose([*TINY, *where, *job]))
    checkpoint = folder.saved.of_epoch(1)
    make_whole(checkpoint)
    losses = {"valid_loss": 2.0, "valid_nll": 2.0, "valid_bleu": 1.0}
    folder.append({"kind": "epoch", "epoch": 1, "update": 4, **losses, "lr": 0.1, "seconds": 1.0})
    folder.set_status(state)
    (outcome,) = launcher_of([job], where).launch([job], 0)
    assert "an array knows False alone" in str(outcome._return_value)
    assert checkpoint.exists()
    assert [record["epoch"] for record in records.read(folder.metrics)] == [1]
    assert folder.status["state"] == {"finished": "finished", "running": "failed"}[state]
    assert not (folder.path / own_files.EARLIER).exists()


def test_a_damaged_folder_fails_alone(where, monkeypatch):
    def train(members, *_):
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [[f"lr_max={rate}"] for rate in (1, 2, 3)]
    for job, name in zip(jobs[:2], ("status.json", "metrics.jsonl"), strict=True):
        folder = RunFolder.of(compose([*TINY, *where, *job]))
        folder.path.mkdir(parents=True)
        (folder.path / name).write_text("no JSON\n")
    returns = launcher_of(jobs, where).launch(jobs, 0)
    assert [job.status.name for job in returns] == ["FAILED", "FAILED", "COMPLETED"]
    assert "malformed" in str(returns[0]._return_value)
    assert "not a record" in str(returns[1]._return_value)


def test_a_member_whose_checkpoints_are_damaged_costs_the_others_nothing(where, monkeypatch):
    trained = []

    def train(members, *_):
        epoch = common_epoch([member.folder for member in members])
        trained.append(([member.cfg.lr_max for member in members], epoch))
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [[f"lr_max={rate}"] for rate in (1, 2, 3)]
    for job in jobs:
        folder = begun(compose([*TINY, *where, *job]))
        measured = {"valid_loss": 1.0, "valid_nll": 1.0, "valid_bleu": 1.0, "lr": 0.1, "seconds": 1.0}
        for epoch in (1, 2, 3, 4):  # a checkpoint without a record is dropped
            folder.append({"kind": "epoch", "epoch": epoch, "update": epoch, **measured})
        for epoch in (3, 4):
            make_whole(folder.saved.of_epoch(epoch))
            write_checksum(folder.saved.of_epoch(epoch))
            if job == jobs[1]:
                content = folder.saved.of_epoch(epoch).read_bytes()
                folder.saved.of_epoch(epoch).write_bytes(content.replace(b"nothing", b"nothong"))
    returns = launcher_of(jobs, where).launch(jobs, 0)
    assert {job.status.name for job in returns} == {"COMPLETED"}
    assert trained == [([2], 0), ([1, 3], 4)]


def test_a_run_that_another_process_trains_is_left_to_it(tmp_path, where, monkeypatch):
    def train(members, *_):
        for member in members:
            member.folder.set_status("finished")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    jobs = [["lr_max=1"], ["lr_max=2"]]
    busy = RunFolder.of(compose([*TINY, *where, *jobs[0]])).identity
    with held(tmp_path / "runs", busy):
        returns = launcher_of(jobs, where).launch(jobs, 0)
    assert [type(job._return_value).__name__ for job in returns] == ["RunBusyError", "NoneType"]
    assert states(tmp_path / "runs").keys().isdisjoint({busy})


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("fairseq.common.amp=true", "fairseq.common.amp=True: an array knows False alone"),
        ("norm=scale_norm", "fairseq.model.fix_norm=True: an array knows False alone"),
    ],
)
def test_what_an_array_cannot_have_is_refused(where, option, words):
    result = run_script("train", "-m", *TINY, *where, "lr_max=1,2", option, "hydra/launcher=array")
    assert result.returncode != 0
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_runs_with_probes_train_alone(tmp_path, where):
    """As in make theory and make reproduce-placements, whose launcher is this one."""
    options = ["max_epoch=1", "lr_max=1e-3,2e-3", "probes.every=4"]
    result = run_script("train", "-m", *TINY, *where, *options, "hydra/launcher=array")
    assert result.returncode == 0, result.stderr
    assert "warning: 2 of 2 runs train alone, not in an array: it has no probes" in result.stdout
    for path in find_folders(tmp_path / "runs").values():
        assert RunFolder(path).status["state"] == "finished"
        assert "probe" in {record["kind"] for record in records.read(RunFolder(path).metrics)}
        assert "array" not in RunFolder(path).environment


def test_the_array_says_who_its_members_are(tmp_path, where):
    cfgs = [compose([*TINY, *where, "max_epoch=1", f"lr_max={rate}"]) for rate in (1e-3, 2e-3)]
    folders = training_run.train_array(cfgs)
    identities = [folder.identity for folder in folders]
    for folder in folders:
        assert json.loads((folder.path / "environment.json").read_text())["array"] == identities
