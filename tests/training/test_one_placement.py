"""A placement trains, resumes to the last digit, and trains in an array; ``make test-placement`` names it."""

import os

import pytest
from helpers import TINY, recorded, run_script

from lnexp.runs.folder import RunFolder

PLACEMENT = os.environ.get("PLACEMENT", "pre_ln")


@pytest.mark.slow
def test_it_trains_over_updates_resumes_and_joins_an_array(tmp_path, where):
    settings = [f"model={PLACEMENT}", *TINY, *where, "max_epoch=3", "checkpoints.keep=all", "order_seed=1"]

    def train(*more):
        done = run_script("train", *more, *settings)
        if done.returncode:
            pytest.fail(done.stderr, pytrace=False)

    train("seed=1")
    (path,) = (tmp_path / "runs").glob("adhoc/*-s1-*")
    folder = RunFolder(path)
    undisturbed = recorded(folder.path, "commit")
    losses = [record["valid_nll"] for record in undisturbed if record["kind"] == "epoch"]
    assert losses[-1] < losses[0], "it learns"
    for epoch in (2, 3):
        folder.saved.of_epoch(epoch).unlink()
    folder.set_status("running")
    train("seed=1")
    assert recorded(folder.path, "commit") == undisturbed, "a resumed run has the numbers that it would have had"

    train("-m", "seed=2,3", "hydra/launcher=array")
    for seed in (2, 3):
        (member,) = (tmp_path / "runs").glob(f"adhoc/*-s{seed}-*")
        assert len(RunFolder(member).environment["array"]) == 2
        epochs = RunFolder(member).epochs()
        assert epochs[-1]["valid_nll"] < epochs[0]["valid_nll"]
