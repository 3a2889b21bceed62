"""Runs that were tracked offline, read back by wandb's own reader."""

import json
from pathlib import Path

import pytest
from helpers import only_run, run_script

from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.runs import records
from lnexp.runs.folder import RunFolder
from lnexp.tasks.translation.samples import SAMPLE_COLUMNS
from lnexp.tracking.offline_runs import ALL
from lnexp.tracking.tracker import chart_name

pytestmark = pytest.mark.slow

CHARTS = ("valid_bleu", "valid_nll", "valid_loss", "train_loss", "lr", "grad_norm", "tokens_per_second", "seconds")


def offline_runs(folder: Path) -> list[Path]:
    return sorted((folder / "wandb").glob("offline-run-*"))


def history(read: list[dict]) -> list[dict]:
    return [one["history"]["item"] for one in read if one["type"] == "history"]


def merged(read: list[dict], kind: str) -> dict:
    found: dict = {}
    for one in read:
        if one["type"] == kind:
            found |= one[kind].get("update", {})
    return found


def test_every_number_of_the_records_is_there_once(resumed, inspect):
    (run,) = offline_runs(resumed)
    steps = history(inspect(run))
    assert [step["_step"] for step in steps] == sorted({step["_step"] for step in steps})
    told = {step["_step"]: step for step in steps}
    for record in records.read(resumed / "metrics.jsonl"):
        if record["kind"] == "epoch":
            charts = {
                key: value for key, value in told[record["update"]].items() if key.startswith(("valid/", "train/"))
            }
            assert charts == pytest.approx(
                {chart_name(key): value for key, value in record.items() if key in CHARTS}
            ), "and nothing that is equal in all epochs"
        elif record.get("parameter"):
            name = f"probe/{record['side']}.{record['layer']}.{record['parameter']}"
            for norm in ("grad_norm", "mean_grad_norm"):
                assert told[record["update"]][f"{name}.{norm}"] == pytest.approx(record[norm])
        elif "output" in record:
            name = f"probe/{record['side']}.{record['layer']}.output"
            assert told[record["update"]][name] == pytest.approx(record["output"])
    assert sum("valid/nll" in step for step in steps) == 3


def test_one_folder_has_every_offline_run_that_is_still_there(resumed):
    (run,) = offline_runs(resumed)
    (link,) = (resumed.parent.parent / ALL).iterdir()
    assert link.resolve() == run.resolve()


def test_a_board_can_group_filter_and_rank(resumed, inspect):
    read = inspect(offline_runs(resumed)[0])
    run = next(one["run"] for one in read if one["type"] == "run")
    assert run["run_id"] == resumed.name[-8:]
    assert run["run_group"] == "adhoc"
    assert set(run["tags"]) == {"small", "toy"}
    config = run["config"]["update"] | merged(read, "config")
    assert config["placement"] == "post_ln"
    assert config["model.dropout"] == 0.0
    assert len(config["commit"]) == 40
    assert not any(isinstance(value, dict) for key, value in config.items() if not key.startswith("_wandb"))
    epochs, summary = RunFolder(resumed).epochs(), merged(read, "summary")
    assert summary["best_valid_bleu"] == pytest.approx(max(epoch["valid_bleu"] for epoch in epochs))
    assert summary["last_valid_bleu"] == pytest.approx(epochs[-1]["valid_bleu"])
    assert "test_bleu" in summary


def test_a_recipes_run_is_in_its_group_with_its_arm(tmp_path, prepared, inspect, offline):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}", "max_epoch=1"]
    recipe = load_recipe("fig2a")
    arm = Job(recipe, "small", recipe.arms["no_warmup_low"], 1).overrides
    done = run_script("train", *arm, *offline, *where)
    assert done.returncode == 0, done.stderr
    read = inspect(offline_runs(only_run(tmp_path))[0])
    run = next(one["run"] for one in read if one["type"] == "run")
    assert run["run_group"] == "fig2a"
    assert set(run["tags"]) == {"small", "toy", "no_warmup_low"}
    config = run["config"]["update"] | merged(read, "config")
    assert (config["recipe"], config["arm"]) == ("fig2a", "no_warmup_low")


def table(run: Path, pattern: str) -> dict:
    newest = max((run / "files" / "media" / "table").glob(pattern), key=lambda path: path.stat().st_mtime_ns)
    return json.loads(newest.read_text())


def test_translations_and_gradients_are_tables(resumed, inspect):
    (run,) = offline_runs(resumed)
    assert not any(key.startswith("samples") for step in history(inspect(run)) for key in step), "it would be charts"
    samples = table(run, "samples_*")
    assert samples["columns"] == list(SAMPLE_COLUMNS)
    assert [row[0] for row in samples["data"]] == [epoch for epoch in (1, 2, 3) for _ in range(8)]
    hypotheses = RunFolder(resumed).lines("hypotheses/valid.epoch3.txt")
    assert [row[4] for row in samples["data"][-8:]] == hypotheses[:8]
    probes = [record for record in records.read(resumed / "metrics.jsonl") if record.get("parameter")]
    assert len(table(run, "gradients_[0-9]*")["data"]) == len(probes)
    assert {row[3] for row in table(run, "gradients_of_W2_table_*")["data"]} == {"W2"}


def test_what_was_uploaded_is_not_told_again(tmp_path, prepared, inspect, offline):
    words = [*offline, f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}", "max_epoch=2", "checkpoints.keep=all"]
    assert run_script("train", *words).returncode == 0
    folder = RunFolder(only_run(tmp_path))
    (first,) = offline_runs(folder.path)
    assert run_script("wandb_sync", "--runs", str(tmp_path / "runs"), "--dry-run").stdout.splitlines()[1:] == [
        str(first)
    ]
    next(first.glob("*.wandb")).with_suffix(".wandb.synced").touch()
    assert "0 offline runs" in run_script("wandb_sync", "--runs", str(tmp_path / "runs")).stdout
    folder.saved.of_epoch(2).unlink()
    folder.set_status("running")
    assert run_script("train", *words).returncode == 0
    (second,) = set(offline_runs(folder.path)) - {first}
    assert [step.get("epoch") for step in history(inspect(second)) if "epoch" in step] == [2]
