"""Loading models from checkpoints, and messages for files that are none."""

import shutil
from pathlib import Path

import pytest
import torch
from helpers import TINY_CORPUS, Touch, cut_short

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.theory.checkpoint import trained_model

LARGER = "scale.toy={train_pairs: 3000, valid_pairs: 20, test_pairs: 20}"


@pytest.fixture
def other(checkpoint, tmp_path) -> Path:
    """A copy, to do things to."""
    return Path(shutil.copy(checkpoint, tmp_path / "other.pt"))


def never_updated(checkpoint: Path) -> None:
    state = torch.load(checkpoint, weights_only=False)
    state["optimizer_history"][-1]["num_updates"] = 0
    torch.save(state, checkpoint)


@pytest.mark.slow
def test_its_parameters_are_the_saved_ones(checkpoint, prepared):
    cfg = compose([TINY_CORPUS, f"data_dir={prepared}"])
    probed = trained_model(checkpoint, None, cfg)
    saved = torch.load(checkpoint, weights_only=False)["model"]
    for name, parameter in probed.model.named_parameters():
        assert torch.equal(parameter, saved[name]), name
    assert not probed.model.training
    orders = [
        [batch["id"].tolist() for batch in trained_model(checkpoint, None, other, reordered=True).batches]
        for other in (compose([TINY_CORPUS, f"data_dir={prepared}", f"order_seed={seed}"]) for seed in (7, 8))
    ]
    assert orders[0] != orders[1]
    said = trained_model(checkpoint, prepare(cfg.data, cfg.data_dir).bin, cfg)
    for own, again in zip(probed.batches, said.batches, strict=True):
        assert torch.equal(own["target"], again["target"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (Path.unlink, "no such file"),
        (cut_short, "no checkpoint, or a truncated one"),
        (lambda path: path.write_text("hello"), "no checkpoint, or a truncated one"),
        (lambda path: torch.save({"model": {}}, path), "no checkpoint of fairseq's; it has no cfg"),
        (lambda path: torch.save({"model": Touch(path.with_name("touched"))}, path), "holds more than tensors"),
        (never_updated, "was never updated"),
    ],
)
def test_what_is_no_trained_model_is_said_in_one_line(other, damage, message):
    damage(other)
    with pytest.raises(UserError, match=message) as error:
        trained_model(other, None, compose([]))
    assert "\n" not in str(error.value)
    assert not other.with_name("touched").exists(), "nothing in it is run"


def test_the_corpus_must_be_there_and_its_own(checkpoint, other, prepared, tmp_path):
    state = torch.load(checkpoint, weights_only=False)
    state["cfg"]["task"]["data"] = str(tmp_path / "gone")
    torch.save(state, other)
    with pytest.raises(UserError, match=r"its corpus is no longer at .*gone; set data=…"):
        trained_model(other, None, compose([]))
    cfg = compose([LARGER, f"data_dir={prepared}"])
    with pytest.raises(UserError, match="another vocabulary"):
        trained_model(other, prepare(cfg.data, cfg.data_dir).bin, cfg)


def test_there_must_be_minibatches_enough(checkpoint):
    with pytest.raises(UserError, match="batches=999: the training data has"):
        trained_model(checkpoint, None, compose(["probes.batches=999"]))
