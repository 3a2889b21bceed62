"""A run of more epochs begins where a finished run of fewer ends, with the numbers that it would have from scratch."""

import pytest
import torch
from helpers import TINY, recorded, run_script

from lnexp.runs.folder import RunFolder, find_folders
from lnexp.safe_loading import load

pytestmark = pytest.mark.slow

SMALL = [option for option in TINY if not option.startswith("max_epoch")]


def train(runs, prepared, *options: str) -> tuple[str, RunFolder]:
    """Train a run and return what is said, and the folder that is new."""
    before = set(find_folders(runs))
    done = run_script("train", *SMALL, *options, f"runs_dir={runs}", f"data_dir={prepared}")
    assert done.returncode == 0, done.stderr
    (new,) = set(find_folders(runs)) - before
    return done.stdout, RunFolder(find_folders(runs)[new])


def test_it_has_the_numbers_that_it_would_have_from_scratch(tmp_path, prepared):
    dropout = "model.dropout=0.3"
    _, short = train(tmp_path / "runs", prepared, dropout, "max_epoch=2")
    said, longer = train(tmp_path / "runs", prepared, dropout, "max_epoch=4")
    assert f"begins after the 2 epochs of {short.name}" in said
    assert "resumes with epoch 3" in said
    _, scratch = train(tmp_path / "other", prepared, dropout, "max_epoch=4")
    assert longer.identity == scratch.identity
    assert recorded(longer.path) == recorded(scratch.path)
    states = [load(folder.saved.of_epoch(4))["model"] for folder in (longer, scratch)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[1])
    assert longer.environment["continues"] == {"run": short.identity, "epoch": 2}
    assert short.status["state"] == "finished"
    assert len(short.epochs()) == 2, "it is as it was"


def test_where_it_would_have_others_it_starts_afresh_and_says_why(tmp_path, prepared):
    linear = "lr_schedule=linear"
    train(tmp_path / "runs", prepared, linear, "max_epoch=2")
    said, longer = train(tmp_path / "runs", prepared, linear, "max_epoch=3")
    assert "lr_schedule=linear ends with the run; lr_schedule.total_updates=… gives both runs one end" in said
    assert "continues" not in longer.environment
    of_whole = ("evaluation.valid_sentences=10", "evaluation.whole_valid_every=2")
    train(tmp_path / "runs", prepared, *of_whole, "max_epoch=3")
    said, _ = train(tmp_path / "runs", prepared, *of_whole, "max_epoch=4")
    assert "its last epoch may have been measured as a last one" in said, "as the one before it, by whole_valid_every"
    said, _ = train(tmp_path / "runs", prepared, linear, "max_epoch=4", "probes.every=2")
    assert "starts afresh, not after the 3 epochs" in said, "the longest"


def test_after_a_run_on_other_text_it_starts_afresh(tmp_path, prepared):
    _, short = train(tmp_path / "runs", prepared, "max_epoch=2")
    data = short.environment["data"]
    short.write_environment(short.environment | {"data": data | {"sha256": data["sha256"] | {"train.de": "0"}}})
    said, longer = train(tmp_path / "runs", prepared, "max_epoch=3")
    assert "it was trained on other text than is in its corpus (train.de)" in said
    assert "continues" not in longer.environment
