"""One run in many processes, as torchrun starts them: the same run, however many, whatever befalls them."""

import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
import torch
from helpers import ROOT, TINY, TRAIN, only_run, run_script, scored, series, start, torchrun, wait_for, without_times
from warm_commands import WarmProcess, warm_python

from lnexp.runs.folder import RunFolder
from lnexp.runs.records import of_kind, read

#: 13 batches an epoch and 12 an update: in its second update two processes of three have no batch.
SETTINGS = [*TINY, "model=admin", "lr_max=1e-3", "max_tokens=100", "update_freq=12", "evaluation.max_tokens=60"]
#: fairseq's longest translation goes by the longest sentence of the batch, and batches differ.
SETTINGS += ["evaluation.max_len_a=0", "evaluation.max_len_b=5"]
SETTINGS += ["scale.toy={train_pairs: 130, valid_pairs: 23, test_pairs: 20}"]
#: An epoch of some hundred updates, long enough to be met within it.
LONG = ["max_tokens=30", "max_epoch=2", "update_freq=2", "fairseq.common.log_interval=1", "checkpoints.keep=all"]
LONG += ["evaluation.average_last=2"]
ENCODER = ["model.encoder_layers=1", "model.encoder_embed_dim=32", "model.encoder_ffn_embed_dim=32", "tracker=none"]
ENCODER += ["max_tokens=128", "evaluation.max_tokens=128", "update_freq=2", "max_epoch=3", "warmup_updates=5"]


def finish(process: WarmProcess, seconds: float = 120) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def checkpoint_of(folder: Path, epoch: int) -> dict:
    return torch.load(RunFolder(folder).saved.of_epoch(epoch))


def snapshots(folder: Path) -> list[dict]:
    return of_kind("snapshot", read(folder / "metrics.jsonl"))


def assert_same_run(one: Path, other: Path, rtol: float) -> None:
    for name in ("train_loss", "grad_norm"):
        # two records of an epoch that was stopped within; numbers are rounded to five digits
        assert series(one, name) == pytest.approx(series(other, name), rel=rtol and rtol + 1e-4)
    for mine, theirs in zip(*map(snapshots, (one, other)), strict=True):
        assert mine.keys() == theirs.keys()
        for name in theirs.keys() - {"kind"}:
            assert mine[name] == pytest.approx(theirs[name], rel=rtol and 5e-3), name
    mine, theirs = map(scored, (one, other))
    assert [record["kind"] for record in mine] == [record["kind"] for record in theirs]
    for record, expected in zip(mine, theirs, strict=True):
        for name in without_times(expected):
            number = isinstance(expected[name], float)
            assert record[name] == (pytest.approx(expected[name], rel=rtol, abs=0) if number else expected[name]), name
    for path in (other / "hypotheses").glob("*"):
        assert (one / "hypotheses" / path.name).read_text() == path.read_text()
    last = RunFolder(other).saved.last_epoch()
    state, expected = (checkpoint_of(folder, last)["model"] for folder in (one, other))
    for name, tensor in expected.items():
        if not tensor.is_floating_point() or not rtol:
            assert torch.equal(state[name], tensor), name
        elif not name.endswith("k_proj.bias"):  # changes no attention: its gradient is rounding, along which Adam walks
            torch.testing.assert_close(state[name], tensor, rtol=rtol, atol=rtol * float(tensor.abs().max()), msg=name)


@pytest.mark.slow
def test_two_and_three_processes_train_the_run_of_one(tmp_path, prepared):
    """Ten updates, batches that come out uneven, and a validation set that does, too."""
    data = [*SETTINGS, "max_epoch=5", f"data_dir={prepared}"]
    done = run_script("train", *data, f"runs_dir={tmp_path / '1' / 'runs'}")
    assert done.returncode == 0, done.stderr
    single = only_run(tmp_path / "1")
    assert checkpoint_of(single, 5)["optimizer_history"][-1]["num_updates"] == 10
    for count in (2, 3):
        code, out, err = finish(torchrun(count, *data, f"runs_dir={tmp_path / str(count) / 'runs'}"))
        assert code == 0, err
        assert f"{12 // count} of them in each of {count} processes" in out
        together = only_run(tmp_path / str(count))
        assert together.name == single.name, "how many processes train it is not part of what a run is"
        assert_same_run(together, single, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", [["masked_lm"], ["sentence_pairs", "pairs=paraphrases", "start.epoch=0"]], ids=lambda t: t[0]
)
def test_a_model_without_a_decoder_is_trained_by_two_processes_as_by_one(tmp_path, task):
    """Three epochs with new masks in each, and shares of the validation set that are not of one size."""
    corpus = [
        "data=bert_toy",
        "scale.toy={train_pairs: 90, valid_pairs: 43, test_pairs: 20}",
        f"data_dir={tmp_path / 'data'}",
    ]
    words = [f"task={task[0]}", *task[1:], *corpus, *ENCODER, "diagnostics.at=[1,3]"]
    done = run_script("train", *words, f"runs_dir={tmp_path / '1' / 'runs'}")
    assert done.returncode == 0, done.stderr
    code, _, err = finish(torchrun(2, *words, f"runs_dir={tmp_path / '2' / 'runs'}"))
    assert code == 0, err
    assert_same_run(only_run(tmp_path / "2"), only_run(tmp_path / "1"), rtol=1e-4)
    assert len(snapshots(only_run(tmp_path / "2"))) == 2


def when_within_an_epoch(tmp_path: Path, epoch: int, logged: int = 0) -> RunFolder:
    """The run's folder, as soon as it has made some updates of an epoch, of which so many were logged before."""

    def look() -> RunFolder | None:
        logs = list((tmp_path / "runs").glob("adhoc/*/train.log"))
        return RunFolder(logs[0].parent) if logs and updates_of(logs[0].parent, epoch) > logged + 5 else None

    return wait_for(look)


def updates_of(folder: Path, epoch: int) -> int:
    """How many updates of an epoch a run has logged."""
    return (folder / "train.log").read_text().count(f"epoch {epoch:03d}:")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, prepared) -> Path:
    """The long run in one process, whole, with probes along it."""
    here = tmp_path_factory.mktemp("undisturbed")
    done = run_script("train", *long_run(here, prepared))
    assert done.returncode == 0, done.stderr
    return only_run(here)


def long_run(here: Path, prepared: Path) -> list[str]:
    return [*SETTINGS, *LONG, "probes.every=7", f"runs_dir={here / 'runs'}", f"data_dir={prepared}"]


@pytest.mark.slow
def test_a_run_that_is_told_to_stop_goes_on_as_if_it_never_had(tmp_path, prepared, undisturbed):
    words, update = long_run(tmp_path, prepared), 0
    for epoch, number in ((1, signal.SIGTERM), (2, signal.SIGUSR1)):
        process = torchrun(1, *words)
        folder = when_within_an_epoch(tmp_path, epoch)
        os.kill(folder.status["pid"], number)
        code, out, _ = finish(process)
        assert code != 0
        assert "received a signal: saved after update" in out
        assert (f"resumes within epoch 1, after update {update}" in out) is (epoch == 2)
        update = folder.saved.last_update_within()
        assert update > sum(record["update"] for record in folder.epochs()[-1:])
        assert len(folder.epochs()) == epoch - 1
        assert folder.status["state"] == "running"
    again = run_script("train", *words)
    assert again.returncode == 0, again.stderr
    assert f"resumes within epoch 2, after update {update}" in again.stdout
    assert_same_run(folder.path, undisturbed, rtol=0)
    assert list(folder.checkpoints.glob("checkpoint_*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_sweep_hands_a_signal_on_to_its_processes(tmp_path, prepared, number):
    words = [*long_run(tmp_path, prepared), "hydra/launcher=torchrun", "hydra.launcher.processes=2"]
    sweep = start("-m", *words)
    folder = when_within_an_epoch(tmp_path, epoch=1)
    sweep.send_signal(number)
    code, out, _ = finish(sweep)
    assert code == -number
    assert "received a signal: saved after update" in out
    assert folder.saved.last_update_within() > 0


@pytest.mark.slow
def test_a_hangup_that_is_ignored_stops_no_sweep(tmp_path, prepared):
    words = [*long_run(tmp_path, prepared), "max_epoch=1", "hydra/launcher=torchrun", "hydra.launcher.processes=1"]
    command = ["nohup", str(warm_python()), str(TRAIN), "-m", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
        folder = when_within_an_epoch(tmp_path, epoch=1)
        sweep.send_signal(signal.SIGHUP)
        assert sweep.wait(120) == 0
    assert folder.is_done


@pytest.mark.slow
def test_two_processes_train_in_bf16_too(tmp_path, prepared):
    words = [*SETTINGS, "precision=bf16", "max_epoch=2", f"data_dir={prepared}"]
    losses = []
    for count, train in ((1, start), (2, partial(torchrun, 2))):
        code, _, err = finish(train(*words, f"runs_dir={tmp_path / str(count) / 'runs'}"))
        assert code == 0, err
        losses.append(RunFolder(only_run(tmp_path / str(count))).epochs()[-1]["valid_loss"])
    assert losses[1] == pytest.approx(losses[0], rel=0.01)


@pytest.mark.slow
def test_another_number_of_processes_goes_on_where_the_ones_before_stopped(tmp_path, prepared, undisturbed):
    words = long_run(tmp_path, prepared)
    for epoch, count in ((1, 2), (2, 1)):
        process = torchrun(count, *words)
        folder = when_within_an_epoch(tmp_path, epoch)
        process.send_signal(signal.SIGTERM)  # torchrun passes it on
        code, out, _ = finish(process)
        assert code != 0
        assert ("resumes within epoch 1" in out) is (epoch == 2)
        assert folder.saved.last_update_within() > 0
    code, out, err = finish(torchrun(2, *words))
    assert code == 0, err
    assert "resumes within epoch 2" in out
    assert_same_run(folder.path, undisturbed, rtol=1e-4)


def pids_by_rank(launcher: int) -> list[int]:
    """The processes of a run, in the order in which they were started, which is that of their ranks."""
    return [int(pid) for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]


@pytest.mark.slow
def test_a_process_that_dies_takes_the_others_along_and_the_run_goes_on_later(tmp_path, prepared):
    words, logged = long_run(tmp_path, prepared), 0
    for victim in (1, 0):
        process = torchrun(2, *words)
        folder = when_within_an_epoch(tmp_path, 2, logged)
        os.kill(pids_by_rank(process.pid)[victim], signal.SIGKILL)
        code, out, err = finish(process, seconds=60)
        assert code != 0
        assert ("resumes with epoch 2" in out) is bool(logged)
        assert f"rank      : {victim}" in err.partition("Root Cause")[2]
        if victim:
            assert "another process of this run has ended; the same command resumes it" in err
        assert folder.status["state"] == "running", "interrupted, not failed"
        logged = updates_of(folder.path, 2)
    again = run_script("train", *words)
    assert "resumes with epoch 2" in again.stdout
    assert folder.is_done


@pytest.mark.slow
def test_what_breaks_one_process_is_shown_and_is_why_the_run_failed(tmp_path, prepared):
    script = tmp_path / "train.py"
    script.write_text(
        "import os\n"
        "from lnexp.tasks.translation import evaluation\n"
        "from lnexp.commands.train import main\n"
        "def breaks(*_):\n"
        "    raise MemoryError('process 1 has a small memory')\n"
        "if os.environ['RANK'] == '1':\n"
        "    evaluation.valid_scores = breaks\n"
        "main()\n"
    )
    words = [*SETTINGS, f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"]
    code, _, err = finish(torchrun(2, *words, script=script), seconds=60)
    assert code != 0
    assert "MemoryError: process 1 has a small memory" in err
    status = RunFolder(only_run(tmp_path)).status
    assert (status["state"], status["why"]) == ("failed", "process 1 of 2: MemoryError: process 1 has a small memory")


@pytest.mark.slow
def test_divergence_is_a_result_of_many_processes_too(tmp_path, prepared):
    words = [*SETTINGS, "model=pre_ln", "optimizer=sgd", "lr_max=1e30", "lr_schedule=constant", "max_epoch=3"]
    code, out, err = finish(torchrun(2, *words, f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"))
    assert code == 0, err
    assert RunFolder(only_run(tmp_path)).status["state"] == "diverged"
    assert out.count("diverged") == 1


@pytest.mark.slow
def test_what_cannot_be_is_said_once(tmp_path, prepared):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"]
    sweep, uneven = torchrun(2, "-m", *SETTINGS, *where), torchrun(2, *SETTINGS, "update_freq=3", *where)
    assert "for a sweep say hydra/launcher=torchrun" in finish(sweep)[2]
    assert "update_freq=3: the batches of an update cannot be shared evenly among 2 processes" in finish(uneven)[2]


@pytest.mark.slow
def test_two_jobs_do_not_write_one_folder(tmp_path, prepared):
    words = [*long_run(tmp_path, prepared), "max_epoch=100"]
    first = torchrun(2, *words)
    folder = when_within_an_epoch(tmp_path, epoch=1)
    code, _, err = finish(torchrun(2, *words), seconds=60)
    assert code != 0
    assert f"{folder.identity}: another process is training this run" in err
    assert first.poll() is None, "undisturbed"
    first.terminate()
    finish(first)
    epochs = [record["epoch"] for record in folder.epochs()]
    assert epochs == list(range(1, len(epochs) + 1))


def test_processes_that_do_not_find_each_other_say_so():
    environment = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}
    done = run_script("train", *TINY, env=environment, cwd=ROOT)
    assert done.returncode == 2
    assert "the processes of this run do not find each other" in done.stderr
    assert "Traceback" not in done.stderr
