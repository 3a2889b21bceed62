"""A placement that changes with the updates knows their number wherever a run trains, validates, tests or resumes."""

import pytest
import torch
from helpers import TINY
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.plugin.model import register_placement
from lnexp.plugin.updates import ChangesWithUpdates
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import load
from lnexp.tasks.contract import Member
from lnexp.training.engine import Engine
from lnexp.training.models.array import ArrayModels
from lnexp.training.models.single import SingleModel

pytestmark = pytest.mark.slow

#: By whether the model is in training: the update numbers that forward passes have seen.
SEEN: dict[bool, list[int]] = {True: [], False: []}


class Warming(ChangesWithUpdates):
    """``x' = x + t/(t + 5) F(LN(x))`` after t updates."""

    final_norm = True

    def connect(self, x, block):
        if self.where.number == 1 and self.where.side == "encoder" and not block.number:
            SEEN[self.training].append(int(self.updates))
        return x + self.updates / (self.updates + 5) * block.sublayer(block.norm(x))


@pytest.fixture
def build(tmp_path, where, registering):
    register_placement("warming")(Warming)
    for seen in SEEN.values():
        seen.clear()

    def make(kind, *overrides: str, members: int = 1, name: str = "run") -> Engine:
        runs = []
        for number in range(members):
            words = [*TINY, *where, "order_seed=1", f"seed={number + 1}", "lr_max=1e-2", "checkpoints.keep=all"]
            cfg = compose([*words, "model=pre_ln", "model._name=lnexp_warming", "max_epoch=3", *overrides])
            OmegaConf.resolve(cfg)
            folder = RunFolder(tmp_path / f"{name}{number}-00000000")
            folder.checkpoints.mkdir(parents=True, exist_ok=True)
            runs.append(Member(cfg, folder))
        return Engine(runs, prepare(runs[0].cfg.data, runs[0].cfg.data_dir), kind)

    return make


KINDS = pytest.mark.parametrize("kind", [SingleModel, ArrayModels])


@KINDS
def test_updates_see_those_made_before_and_a_validation_sees_all_of_them(build, kind):
    engine = build(kind)
    engine.train()
    assert SEEN[True] == list(range(engine.updates))
    an_epoch = engine.updates // 3
    assert set(SEEN[False]) == {an_epoch, 2 * an_epoch, 3 * an_epoch}


@KINDS
def test_all_batches_of_an_update_see_one_number(build, kind):
    engine = build(kind, "update_freq=2", "max_epoch=1")
    engine.train()
    batches = [SEEN[True].count(number) for number in range(engine.updates)]
    assert sum(batches) == len(SEEN[True])
    assert set(batches[:-1]) == {2}


@KINDS
def test_a_resumed_run_is_an_undisturbed_one(build, kind):
    whole = build(kind, name="whole")
    whole.train()
    again = build(kind, name="whole")
    again.members[0].folder.drop_after(2)
    SEEN[True].clear()
    again.train()
    assert SEEN[True][0] == again.updates // 3 * 2
    one, other = (engine.models.model.state_dict() for engine in (whole, again))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_members_of_different_epochs_are_tested_with_their_own_numbers(build, monkeypatch):
    engine = build(ArrayModels, members=2)
    engine.train()
    best = {0: 1, 1: 3}
    for number, epoch in best.items():
        monkeypatch.setattr(engine.members[number].folder, "epochs_to_test", lambda diverged, epoch=epoch: [epoch])
    SEEN[False].clear()
    ends = engine.test()
    an_epoch = engine.updates // 3
    assert set(SEEN[False]) == {an_epoch, 3 * an_epoch}
    assert [end["checkpoint_epoch"] for end in ends] == [1, 3]
    single = build(SingleModel, name="single")
    for number, epoch in best.items():
        single.models.load(0, load(engine.members[number].folder.saved.of_epoch(epoch))["model"])
        single.evaluation.test(single.models, "test", single.members)
        alone, together = (
            run.folder.lines("hypotheses/test.txt") for run in (single.members[0], engine.members[number])
        )
        assert alone == together


def test_an_average_of_checkpoints_has_the_last_ones_number(build):
    engine = build(SingleModel, "evaluation.average_last=2")
    engine.train()
    SEEN[False].clear()
    engine.test()
    assert SEEN[False][-1] == engine.updates
