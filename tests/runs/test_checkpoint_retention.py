"""Which checkpoints a run keeps."""

import pytest
from helpers import make_whole
from omegaconf import DictConfig, OmegaConf

from lnexp.runs.checkpoint_retention import epochs_to_average, keep_for_good, keep_while_training
from lnexp.runs.folder import RunFolder

NLLS = (3.0, 1.0, 1.5, 1.4, 1.3, 1.2)


def config(keep: str = "best_and_last", average_last: int = 0) -> DictConfig:
    return OmegaConf.create({"checkpoints": {"keep": keep}, "evaluation": {"average_last": average_last}})


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    made = RunFolder(tmp_path / "post_ln-s1-0123abcd")
    made.checkpoints.mkdir(parents=True)
    for epoch, nll in enumerate(NLLS, start=1):
        make_whole(made.saved.of_epoch(epoch))
        measured = {"valid_loss": 2.0, "valid_nll": nll, "valid_bleu": 3.0, "lr": 0.1, "seconds": 1.0}
        made.append({"kind": "epoch", "epoch": epoch, "update": 10 * epoch, **measured})
    return made


@pytest.mark.parametrize(
    ("keep", "average_last", "training", "for_good"),
    [
        ("last", 0, [2, 5, 6], [6]),
        ("best_and_last", 0, [2, 5, 6], [2, 6]),
        ("best_and_last", 3, [2, 4, 5, 6], [2, 6]),
        ("best_and_last", 99, [1, 2, 3, 4, 5, 6], [2, 6]),
        ("all", 0, [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ],
)
def test_until_it_is_tested_the_best_one_and_one_to_fall_back_on_are_kept(
    folder, keep, average_last, training, for_good
):
    cfg = config(keep, average_last)
    keep_while_training(folder, cfg)
    assert folder.saved.epochs() == training
    assert folder.best_epoch() == 2
    keep_for_good(folder, cfg)
    assert folder.saved.epochs() == for_good


def test_what_is_averaged_is_of_the_last_epochs_alone(folder):
    assert epochs_to_average(folder, config()) == []
    assert epochs_to_average(folder, config(average_last=3)) == [4, 5, 6]
    assert epochs_to_average(folder, config(average_last=99)) == [1, 2, 3, 4, 5, 6]
    folder.saved.of_epoch(5).unlink()
    assert epochs_to_average(folder, config(average_last=3)) == [4, 6], "and not the best one, which was kept before"
