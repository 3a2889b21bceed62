"""Masked language models train alone and in arrays, and resume to the last digit; every command works on their runs."""

import shutil

import pytest
import torch
from helpers import TINY_CORPUS, TINY_ENCODER, assert_as_alone, recorded, rewind_to_first_epoch, run_script, scored

from lnexp.safe_loading import load

pytestmark = pytest.mark.slow

TINY = [
    "task=masked_lm", "data=toy", TINY_CORPUS, "blocks.tokens=32", *TINY_ENCODER, "tracker=none", "warmup_updates=5",
]  # fmt: skip


def train(*arguments: str) -> str:
    sweep = ["-m"] if "hydra/launcher=array" in arguments else []
    done = run_script("train", *sweep, *TINY, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def alone(tmp_path_factory, prepared):
    """A run of two epochs with an end record, and its stdout."""
    runs = tmp_path_factory.mktemp("masked_lm")
    options = [f"runs_dir={runs}", f"data_dir={prepared}", "evaluation.average_last=2"]
    said = train("max_epoch=2", "checkpoints.keep=all", *options)
    (folder,) = (runs / "adhoc").glob("*-s1-*")
    return folder, said


def test_a_run_records_hidden_words_measured(alone):
    folder, said = alone
    *epochs, end = scored(folder)
    assert len(epochs) == 2
    for epoch in epochs:
        assert epoch["valid_loss"] == epoch["valid_nll"], "labels are not smoothed"
        assert 0 <= epoch["valid_accuracy"] <= 1
    assert epochs[1]["valid_nll"] < epochs[0]["valid_nll"]
    assert 0 < end["test_nll"] < 10
    assert end["averaged_epochs"] == [1, 2]
    assert "test accuracy" in said


def test_an_array_trains_what_runs_of_their_own_do(alone, tmp_path, prepared):
    options = ["max_epoch=2", f"runs_dir={tmp_path}", f"data_dir={prepared}", "evaluation.average_last=2"]
    train(*options, "lr_max=4e-3,1e-3", "order_seed=1", "hydra/launcher=array")
    (folder,) = (tmp_path / "adhoc").glob("*lr0.004*-s1-*")
    assert_as_alone(folder, alone[0])


def test_an_interrupted_run_resumes_to_the_last_digit(alone, tmp_path, prepared):
    options = [f"runs_dir={tmp_path}", f"data_dir={prepared}", "max_epoch=2", "evaluation.average_last=2"]
    folder = shutil.copytree(alone[0], tmp_path / "adhoc" / alone[0].name)
    rewind_to_first_epoch(folder)
    said = train(*options)
    assert "epoch 2/2" in said
    assert "epoch 1/2" not in said
    assert recorded(folder, "members") == recorded(alone[0], "members")
    mine, other = (load(run / "checkpoints" / "checkpoint2.pt")["model"] for run in (folder, alone[0]))
    assert all(torch.equal(mine[name], other[name]) for name in other)


def test_pre_ln_has_its_final_norm_and_no_norm_on_the_embedding(alone, tmp_path, prepared):
    train("max_epoch=1", f"runs_dir={tmp_path}", f"data_dir={prepared}", "model=pre_ln")
    (of_pre_ln,) = (tmp_path / "adhoc").glob("*-s1-*")
    for model, folder, norms in (("pre_ln", of_pre_ln, 3), ("post_ln", alone[0], 2)):
        state = load(folder / "checkpoints" / "checkpoint1.pt")["model"]
        assert sum(name.endswith("norm.weight") for name in state) == norms
        assert ("encoder.layer_norm.weight" in state) == (model == "pre_ln")
        assert not any("layernorm_embedding" in name or "output" in name for name in state), "the output is tied"


def test_a_block_can_be_a_sentence(tmp_path, prepared):
    said = train("max_epoch=1", "blocks.break_mode=eos", f"runs_dir={tmp_path}", f"data_dir={prepared}")
    assert "finished" in said


def test_a_run_is_planned(prepared):
    done = run_script("plan", *TINY, f"data_dir={prepared}")
    assert done.returncode == 0, done.stderr
    assert "blocks, " in done.stdout
    of_sentences = run_script("plan", *TINY, "blocks.break_mode=eos", f"data_dir={prepared}")
    assert "120 blocks, " in of_sentences.stdout, "as many as sentences"
    assert "120 blocks, " not in done.stdout


def test_a_block_that_fits_no_batch_is_refused(tmp_path, prepared):
    done = run_script("train", *TINY, "max_tokens=16", f"runs_dir={tmp_path}", f"data_dir={prepared}")
    assert done.returncode
    assert "a block of train is too long" in done.stderr + done.stdout
    assert "32 tokens, more than the 16 of max_tokens" in done.stderr + done.stdout
    done = run_script("train", *TINY, "evaluation.max_tokens=16", f"runs_dir={tmp_path}", f"data_dir={prepared}")
    assert "a block of valid is too long" in done.stderr + done.stdout
    assert "32 tokens, more than the 16 of evaluation.max_tokens" in done.stderr + done.stdout
