"""The real command: what a run leaves, that it learns, that it skips, resumes and survives a kill."""

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml
from helpers import ROOT, TINY, Touch, cut_short, only_run, recorded, run_script, scored, start, wait_for, without_times
from warm_commands import run_warm

from lnexp.numerics import NUMERICS
from lnexp.runs import records
from lnexp.runs.checksum import write_checksum
from lnexp.runs.folder import RunFolder

EPOCH_KEYS = [
    "kind",
    "epoch",
    "update",
    "valid_loss",
    "valid_nll",
    "valid_bleu",
    "bleu_signature",
    "n_sentences",
    "train_loss",
    "lr",
    "grad_norm",
    "seconds",
    "tokens_per_second",
    "time",
    "commit",
]


def train(*arguments):
    done = run_script("train", *arguments)
    assert done.returncode == 0, done.stderr
    return done


TWO_EPOCHS = [*TINY, "max_epoch=2", "checkpoints.keep=all", "order_seed=1"]
THREE_EPOCHS = [*TINY, "max_epoch=3", "checkpoints.keep=all", "model.dropout=0.1"]


@pytest.fixture(scope="module")
def of_two_seeds(tmp_path_factory, prepared) -> Callable[[str], Path]:
    """A function that returns the ``runs_dir`` of finished runs of seeds 1 and 2, which a launcher trains once."""

    @cache
    def of(launcher: str) -> Path:
        runs = tmp_path_factory.mktemp(launcher) / "runs"
        where = [f"runs_dir={runs}", f"data_dir={prepared}"]
        train("-m", *TWO_EPOCHS, *where, f"hydra/launcher={launcher}", "seed=1,2")
        return runs

    return of


@pytest.fixture(scope="module")
def of_three_epochs(tmp_path_factory, prepared) -> Path:
    """The ``runs_dir`` of a finished run of three epochs."""
    runs = tmp_path_factory.mktemp("three") / "runs"
    train(*THREE_EPOCHS, f"runs_dir={runs}", f"data_dir={prepared}")
    return runs


def copied(runs: Path, tmp_path: Path) -> Path:
    """Have a copy of finished runs be the test's own, and return the folder of one of them, of seed 1."""
    shutil.rmtree(tmp_path / "runs", ignore_errors=True)
    shutil.copytree(runs, tmp_path / "runs")
    return of_seed(tmp_path, 1)


def of_seed(tmp_path: Path, seed: int) -> Path:
    (folder,) = (tmp_path / "runs").glob(f"[!.]*/*-s{seed}-*")
    return folder


@pytest.mark.slow
def test_a_run_leaves_its_whole_folder(tmp_path, where):
    done = train(*TINY, *where, "max_epoch=2", "seed=5")
    folder = only_run(tmp_path)
    assert folder.parent.name == "adhoc"
    assert folder.name.startswith("post_ln-adam-lr0.004-w1-inverse_sqrt-encoder_embed_dim32-decoder_embed_dim32-s5-")
    first, second, end = scored(folder)
    assert next(iter(first)) == "kind"
    assert set(EPOCH_KEYS) <= set(first)
    assert (first["epoch"], second["epoch"], end["kind"]) == (1, 2, "end")
    assert second["valid_nll"] < first["valid_nll"]
    assert first["valid_loss"] > first["valid_nll"] * 0.9
    assert "tok:13a" in first["bleu_signature"]
    assert "tok:none" in end["bleu_signature_tokenised"]
    assert end["n_sentences"] == first["n_sentences"] == 20
    assert json.loads((folder / "status.json").read_text())["state"] == "finished"
    assert json.loads((folder / "status.json").read_text())["updates"] == second["update"]
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["data"]["pairs"]["train"] == 120
    assert environment["packages"]["torch"]
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["fairseq"]["model"]["encoder_embed_dim"] == 32, "resolved"
    assert len((folder / "hypotheses" / "test.txt").read_text().splitlines()) == 20
    assert "fairseq" in (folder / "train.log").read_text()
    assert len(done.stdout.splitlines()) == 4, "start, two epochs, end: nothing of fairseq's own"
    assert done.stderr == ""


@pytest.mark.slow
def test_a_finished_run_is_skipped_and_force_trains_it_afresh(finished, where):
    metrics = finished / "metrics.jsonl"
    before = metrics.read_text()
    lone = finished / "checkpoints" / "checkpoint7.pt.sha256"
    lone.write_text("as a kill between the deletions of a checkpoint and of its checksum leaves it")
    assert "finished already, skipped" in train(*TINY, *where, "max_epoch=1").stdout
    assert metrics.read_text() == before
    assert not lone.exists()
    train(*TINY, *where, "max_epoch=1", "force=true")
    again = metrics.read_text()
    assert again != before, "seconds differ"
    assert [without_times(r) for r in records.read(metrics)] == [
        without_times(json.loads(line)) for line in before.splitlines()
    ], "one thread, one seed: the same numbers"


@pytest.mark.slow
def test_force_keeps_the_files_of_others_and_refuses_a_name_that_is_taken(finished, where):
    test = finished / "hypotheses" / "test.txt"
    test.unlink()
    test.mkdir()
    mine = [finished / "hypotheses" / "mine.txt", finished / "checkpoints" / "notes.txt"]
    for path in mine:
        path.write_text("mine")
    done = run_script("train", *TINY, "max_epoch=1", *where, "force=true")
    assert done.stderr.splitlines() == [f"error: {test}: not a regular file of the run's own; remove it"]
    assert RunFolder(finished).status["state"] == "finished", "what it had has come back"
    assert len(RunFolder(finished).epochs()) == 1
    test.rmdir()
    train(*TINY, "max_epoch=1", *where, "force=true")
    assert all(path.read_text() == "mine" for path in mine)


@pytest.mark.slow
def test_force_trains_afresh_once_in_a_slurm_job_that_is_queued_again(tmp_path, where):
    settings = [*TINY, *where, "max_epoch=1", "force=true"]

    def trained_at(job, restarts):
        done = run_script("train", *settings, env={"SLURM_JOB_ID": job, "SLURM_RESTART_COUNT": restarts})
        assert done.returncode == 0, done.stderr
        assert ("finished already" in done.stdout) == ((job, restarts) == ("7", "1")), "it is not tested a second time"
        return RunFolder(only_run(tmp_path)).metrics.stat().st_mtime_ns  # a run may take less than a second

    first = trained_at("7", "0")
    assert trained_at("7", "1") == first, "the job began the run itself"
    assert trained_at("8", "1") > first, "another job's run"


@pytest.mark.slow
def test_checkpoints_are_pruned_by_config(tmp_path, where, of_three_epochs):
    train(*THREE_EPOCHS, *where, "checkpoints.keep=last")
    (every,) = of_three_epochs.glob("[!.]*/*-*")
    for folder, epochs in ((only_run(tmp_path), [3]), (every, [1, 2, 3])):
        kept = sorted(path.name for path in (folder / "checkpoints").iterdir())
        assert kept == [f"checkpoint{epoch}.pt{end}" for epoch in epochs for end in ("", ".sha256")]


@pytest.mark.slow
def test_the_average_of_the_last_checkpoints_is_tested_beside_the_best(tmp_path, where):
    train(*TINY, *where, "max_epoch=4", "evaluation.average_last=3", "checkpoints.keep=last", "lr_max=1e-2")
    folder = RunFolder(only_run(tmp_path))
    assert folder.saved.epochs() == [4]
    end = records.read(folder.metrics)[-1]
    assert end["averaged_epochs"] == [2, 3, 4]
    best, averaged = ((folder.path / "hypotheses" / f"{name}.txt").read_text() for name in ("test", "test.averaged"))
    assert averaged.count("\n") == end["n_sentences"] == 20
    assert averaged != best
    assert 0 <= end["averaged_test_bleu"] <= 100
    assert 0 <= end["averaged_test_bleu_tokenised"] <= 100


@pytest.mark.slow
def test_a_checkpoint_is_read_by_stock_fairseq(checkpoint, prepared):
    (binarised,) = [path for path in prepared.glob("toy-*/bin") if matches(path)]
    words = [str(binarised), "--path", str(checkpoint), "--user-dir", str(ROOT / "lnexp" / "plugin")]
    words += ["--task", "lnexp_translation", "--beam", "2", "--max-len-a", "1.2", "--max-len-b", "10"]
    done = run_warm(["-m", "fairseq_cli.generate", *words], own_package=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert sum(line.startswith("H-") for line in done.stdout.splitlines()) == 20


def matches(binarised) -> bool:
    manifest = json.loads((binarised.parent / "manifest.json").read_text())
    return manifest["pairs"] == {"train": 120, "valid": 20, "test": 20}


@pytest.mark.slow
def test_any_option_of_fairseqs_can_be_set(tmp_path, where):
    train(*TINY, *where, "max_epoch=9", "fairseq.optimization.max_update=3", "fairseq.optimization.stop_min_lr=1e-9")
    epoch, end = scored(only_run(tmp_path))
    assert epoch["update"] == 3
    assert end["checkpoint_epoch"] == 1, "an epoch that fairseq cut short has its checkpoint, too"


@pytest.mark.slow
def test_divergence_is_a_result(tmp_path, where):
    done = train(*TINY, *where, "max_epoch=3", "optimizer=sgd", "lr_max=1e30", "lr_schedule=constant")
    folder = only_run(tmp_path)
    status = json.loads((folder / "status.json").read_text())
    assert status["state"] == "diverged"
    assert status["why"]
    assert records.read(folder / "metrics.jsonl")[-1]["kind"] == "end"
    assert list((folder / "checkpoints").glob("crash*")) == []
    assert "diverged" in done.stdout
    assert (
        "diverged already, skipped"
        in train(*TINY, *where, "max_epoch=3", "optimizer=sgd", "lr_max=1e30", "lr_schedule=constant").stdout
    )


@pytest.mark.slow
def test_a_run_that_diverges_later_is_tested_with_its_last_checkpoint(tmp_path, where):
    """Damage the second epoch's checkpoint as an overflow would: the run resumes from it, and it does not decode."""
    settings = [*TINY, *where, "max_tokens=300", "max_epoch=3", "model=pre_ln", "lr_max=1e-3", "checkpoints.keep=all"]
    train(*settings)
    folder = only_run(tmp_path)
    second = folder / "checkpoints" / "checkpoint2.pt"
    state = torch.load(second)
    state["model"]["decoder.layers.0.fc1.weight"].fill_(3e38)
    torch.save(state, second)
    write_checksum(second)
    (folder / "checkpoints" / "checkpoint3.pt").unlink()
    (folder / "status.json").write_text('{"state": "running", "why": "", "updates": 0}')
    assert "diverged" in train(*settings).stdout
    *epochs, end = scored(folder)
    assert ([epoch["epoch"] for epoch in epochs], end["checkpoint_epoch"]) == ([1, 2], 1)
    assert end["test_bleu"] is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "epochs"),
    [("fairseq.dataset.validate_interval=2", [2]), ("fairseq.dataset.validate_interval_updates=3", [1, 2, 3])],
)
def test_validation_at_other_times_breaks_nothing(tmp_path, where, option, epochs):
    train(*TINY, *where, "max_epoch=3", "max_tokens=200", option)
    *found, end = scored(only_run(tmp_path))
    assert [record["epoch"] for record in found] == epochs
    assert end["test_bleu"] is not None


def wait_into_epoch(runs, epoch: int) -> None:
    """Wait until the checkpoint of the epoch before is there, and a little into the epoch."""
    wait_for(lambda: any(runs.glob(f"*/*/checkpoints/checkpoint{epoch - 1}.pt")), 120)
    time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("optimizer", "schedule"), [("adam", "step"), ("radam", "linear")])
def test_a_killed_run_ends_with_the_curve_of_an_undisturbed_one(tmp_path, prepared, optimizer, schedule):
    settings = [*TINY, "max_epoch=3", "max_tokens=40", "model.dropout=0.1", "scale.decay_epoch=2"]
    settings += [f"optimizer={optimizer}", f"lr_schedule={schedule}", "lr_max=2e-3", "checkpoints.keep=last"]
    train(*settings, f"runs_dir={tmp_path / 'calm' / 'runs'}", f"data_dir={prepared}")
    rough = [*settings, f"runs_dir={tmp_path / 'rough' / 'runs'}", f"data_dir={prepared}"]
    for epoch in (2, 3):
        process = start(*rough, start_new_session=True)
        wait_into_epoch(tmp_path / "rough" / "runs", epoch)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was on its way"
    done = train(*rough)
    assert "resumes with epoch 3" in done.stdout
    calm, rough_records = (recorded(only_run(tmp_path / name)) for name in ("calm", "rough"))
    assert len(calm) == 7, "a record of the updates and one of the scores an epoch, and the end"
    assert rough_records == calm


@pytest.mark.slow
def test_probes_along_training_change_nothing_else(tmp_path, where):
    settings = [*TINY, *where, "max_epoch=3", "max_tokens=200", "model.dropout=0.1"]
    train(*settings)
    folder = only_run(tmp_path)
    plain = recorded(folder)
    train(*settings, "probes.every=4", "force=true")
    found = recorded(folder)
    probes = [record for record in found if record["kind"] == "probe"]
    assert [record for record in found if record["kind"] != "probe"] == plain
    updates = plain[-2]["update"]
    assert sorted({record["update"] for record in probes}) == [*range(0, updates + 1, 4)]
    gradients = [record for record in probes if "parameter" in record]
    looks = len({record["update"] for record in probes})
    assert len(gradients) == 4 * looks, "two matrices of one layer of two sides"
    assert all(0 < record["grad_norm"] <= record["mean_grad_norm"] for record in gradients)
    norms = [record for record in probes if "output" in record]
    assert len(norms) == 2 * looks
    assert all(record["before_norm"] > 0 for record in norms)
    # a run that is stopped within an epoch, and resumes from the one before, has every probe once
    cut_short(folder / "checkpoints" / "checkpoint3.pt")
    (folder / "status.json").write_text('{"state": "running", "why": "", "updates": 0}')
    train(*settings, "probes.every=4", "checkpoints.keep=all")
    assert recorded(folder) == found


@pytest.mark.slow
def test_a_run_goes_on_before_a_checkpoint_that_was_cut_short(tmp_path, where, of_three_epochs):
    folder = copied(of_three_epochs, tmp_path)
    undisturbed = recorded(folder)
    cut_short(folder / "checkpoints" / "checkpoint3.pt")
    (folder / "status.json").write_text('{"state": "running", "why": "", "updates": 0}')
    done = train(*THREE_EPOCHS, *where)
    assert "resumes with epoch 3" in done.stdout
    assert recorded(folder) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "array"])
def test_a_checkpoint_that_would_run_code_is_not_loaded(tmp_path, where, of_two_seeds, launcher):
    folder = copied(of_two_seeds(launcher), tmp_path)
    (folder / "checkpoints" / "checkpoint2.pt").unlink()
    (folder / "status.json").write_text('{"state": "running", "why": "", "updates": 0}')
    checkpoint, touched = folder / "checkpoints" / "checkpoint1.pt", tmp_path / "touched"
    torch.save({"model": {}, "extra_state": Touch(touched)}, checkpoint)
    write_checksum(checkpoint)
    done = run_script("train", "-m", *TWO_EPOCHS, *where, f"hydra/launcher={launcher}", "seed=1")
    assert done.returncode != 0
    assert f"{checkpoint}: holds more than tensors and plain values, and is not loaded; force=true" in done.stderr
    assert "Traceback" not in done.stderr
    assert not touched.exists()


@pytest.mark.slow
def test_a_run_whose_last_record_was_lost_trains_that_epoch_again(tmp_path, where, of_three_epochs):
    folder = RunFolder(copied(of_three_epochs, tmp_path))
    undisturbed = recorded(folder.path)
    lines = folder.metrics.read_text().splitlines(keepends=True)
    folder.metrics.write_text("".join(lines[:5]) + lines[5][:40])
    folder.set_status("running")
    said = train(*THREE_EPOCHS, *where).stdout
    assert "checkpoint3.pt is of an epoch without a record, or after one: dropped" in said
    assert "resumes with epoch 3" in said
    assert recorded(folder.path) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "array"])
def test_a_checkpoint_of_another_seed_is_not_taken_over(tmp_path, where, of_two_seeds, launcher):
    one, two = copied(of_two_seeds(launcher), tmp_path), of_seed(tmp_path, 2)
    (one / "checkpoints" / "checkpoint2.pt").unlink()
    RunFolder(one).set_status("running")
    for name in ("checkpoint1.pt", "checkpoint1.pt.sha256"):
        (one / "checkpoints" / name).write_bytes((two / "checkpoints" / name).read_bytes())
    done = run_script("train", "-m", *TWO_EPOCHS, *where, f"hydra/launcher={launcher}", "seed=1")
    assert done.returncode != 0
    assert (
        f"checkpoint1.pt: is of run {RunFolder(two).identity}, not of {RunFolder(one).identity}; force" in done.stderr
    )


def stop_after_first_epoch(folder: RunFolder) -> None:
    """Leave a finished run of two epochs as a kill after its first one does."""
    folder.saved.of_epoch(2).unlink()
    folder.drop_after(1)
    folder.set_status("running")


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "array"])
def test_a_run_is_not_resumed_on_other_text_or_with_other_numerics(tmp_path, where, of_two_seeds, launcher):
    settings = ["-m", *TWO_EPOCHS, *where, f"hydra/launcher={launcher}"]
    now = RunFolder(copied(of_two_seeds(launcher), tmp_path)).environment
    for other, message in (
        ({"numerics": 1}, f"with version 1 of the numerics, not {NUMERICS}"),
        (
            {"data": now["data"] | {"sha256": now["data"]["sha256"] | {"train.de": "0"}}},
            r"on other text .*\(train\.de\)",
        ),
    ):
        one, two = RunFolder(copied(of_two_seeds(launcher), tmp_path)), RunFolder(of_seed(tmp_path, 2))
        for folder in (one, two):
            stop_after_first_epoch(folder)
        one.write_environment(now | other)
        done = run_script("train", *settings, "seed=1,2")
        assert done.returncode != 0
        assert re.search(rf"{one.name}: was trained so far {message}; force=true trains it afresh", done.stderr)
        assert (one.environment, [record["epoch"] for record in one.epochs()]) == (now | other, [1])
        assert two.status["state"] == "finished"
        train(*settings, "seed=1", "force=true")
        assert (one.environment["data"], one.environment["numerics"]) == (now["data"], NUMERICS)


@pytest.mark.slow
def test_what_becomes_of_a_run_of_other_code_is_the_users_choice(tmp_path, where):
    settings = [*TINY, *where, "max_epoch=2", "checkpoints.keep=all"]
    train(*settings)
    folder = RunFolder(only_run(tmp_path))
    now = folder.environment
    other = "plugin/placements/post_ln.py"

    def trained_by_other_code():
        before = folder.environment | {"code": now["code"] | {other: "0"}}
        folder.write_environment(before)
        return before

    before = trained_by_other_code()
    for command in (settings, ["-m", *settings]):
        done = run_script("train", *command)
        assert done.returncode == 2
        assert f"finished already, but by other code than is here ({other}); other_code=keep" in done.stderr
    assert (folder.environment, folder.status["state"]) == (before, "finished"), "nothing is changed"
    assert f"finished already by other code ({other}), skipped" in train(*settings, "other_code=keep").stdout

    folder.saved.of_epoch(2).unlink()
    folder.set_status("running")
    assert f"was trained so far by other code than is here ({other})" in run_script("train", *settings).stderr
    assert f"resumes, trained so far by other code ({other})" in train(*settings, "other_code=keep").stdout
    assert folder.environment["code"] == now["code"]
    assert folder.environment["earlier_code"] == [before["code"]]

    trained_by_other_code()
    train("-m", *settings, "other_code=retrain")
    assert folder.environment["code"] == now["code"]
    assert "earlier_code" not in folder.environment, "trained afresh"
    assert "0 of 1 runs" not in train("-m", *settings, "other_code=retrain").stdout
    assert [record["epoch"] for record in folder.epochs()] == [1, 2]


@pytest.mark.slow
def test_a_warm_up_that_never_ends_is_said_once(where):
    settings = [word for word in TINY if not word.startswith("warmup_updates=")]
    said = train(*settings, *where, "max_epoch=2", "warmup_updates=1000").stdout
    assert said.count("warmup_updates=1000: the warm-up never ends, the run has about") == 1
    assert "never ends" not in train(*settings, *where, "max_epoch=2", "warmup_updates=2").stdout


@pytest.mark.slow
def test_a_small_training_learns(tmp_path, prepared):
    """The profile with a third of its layers and three epochs: BLEU far above an untrained model's."""
    train(
        "model=pre_ln", "model.encoder_layers=2", "model.decoder_layers=2", "warmup_updates=1", "lr_max=4e-3",
        "scale.toy={train_pairs: 3000, valid_pairs: 60, test_pairs: 60}", "max_epoch=3", "tracker=none",
        f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}",
    )  # fmt: skip
    first, *_, last, end = scored(only_run(tmp_path))
    assert first["valid_bleu"] < 15
    assert last["valid_bleu"] > 40
    assert end["test_bleu"] > 40


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "array"])
def test_what_fairseq_logs_goes_to_the_runs_log_alone(tmp_path, where, launcher):
    said = run_script("train", "-m", *TINY, *where, "max_epoch=1", f"hydra/launcher={launcher}")
    assert said.returncode == 0, said.stderr
    assert "INFO" not in said.stdout + said.stderr
    assert "INFO" in (only_run(tmp_path) / "train.log").read_text()
