"""The composer says what Hydra says."""

import pytest
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.composer import Composer
from lnexp.configuration import hydra_compose
from lnexp.overrides import spell_out
from lnexp.plain import plain

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def composer():
    return Composer(hydra_compose)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["lr_max=1", "model=pre_ln", "seed=7"],
        ["optimizer=sgd", "scale.lr_max=${scale.sgd_lr_max}", "lr_max=${scale.lr_max.low}"],
        [
            "profile=paper",
            "lr_schedule=step",
            "lr_schedule.decay_epoch=3",
            "warmup_updates=${scale.warmup_updates.short}",
        ],
        ["+recipe=fig2a", "+arm=x", "seed=3", "++fairseq.common.fp16=true", "~evaluation.lenpen"],
        ["scale.toy={train_pairs: 120, valid_pairs: 20, test_pairs: 20}", "optimizer.betas=[0.9,0.9]", "tracker=none"],
        ["lr_schedule=inverse_sqrt", "lr_schedule.form=coupled"],
        ["lr_schedule.total_updates=9", "lr_schedule=linear", "model=pre_ln"],
        ["data.name='a b'", "runs_dir=/x/y", "n_seeds=2"],
        ["lr_max=1", "++lr_max=2"],
        ["+recipe=fig2a", "+arm=x", "+scale.deep.key=1"],
        ["scale.toy={train_pairs: 7}", "++scale.toy.train_pairs=5"],
        ["++scale.toy.train_pairs=5", "scale.toy={train_pairs: 7}"],
        ["scale.sgd_lr_max={low: 1, high: 2}", "~scale.sgd_lr_max.low"],
        ["+scale.new={a: 1}", "++scale.new.a=2"],
        ["fairseq.optimization.stop_min_lr=1e-9", "fairseq.optimizer.eps=1e-6"],
    ],
)
def test_it_composes_what_hydra_does(composer, overrides):
    expected = plain(hydra_compose(spell_out(overrides)))
    for _ in range(2):  # the second time from what it remembers
        assert plain(composer.compose(overrides)) == expected


@pytest.mark.parametrize(
    "overrides",
    [["lr_maxx=1"], ["model=nothing"], ["lr_max=="], ["model.nothing=1"], ["+lr_max=5"], ["+evaluation.lenpen=3"]],
)
def test_it_refuses_what_hydra_refuses(composer, overrides):
    with pytest.raises((HydraException, OmegaConfBaseException)) as ours:
        composer.compose(overrides)
    with pytest.raises((HydraException, OmegaConfBaseException)) as hydras:
        hydra_compose(overrides)
    assert (type(ours.value), str(ours.value)) == (type(hydras.value), str(hydras.value))


def test_composing_files_again_asks_hydra_once(monkeypatch):
    asked = []
    composer = Composer(lambda overrides: asked.append(overrides) or hydra_compose(overrides))
    for rate in (1, 2, 3):
        assert composer.compose(["model=pre_ln", f"lr_max={rate}", "+recipe=fig2a"]).lr_max == rate
    assert asked == [["model=pre_ln"]]


def test_jobs_do_not_meet(composer):
    words = ["lr_max=1", "optimizer.betas=[0.8,0.9]"]
    before = [plain(composer.compose(overrides)) for overrides in ([], words)]
    one = composer.compose(words)
    one.optimizer.betas[0] = 0.5
    OmegaConf.update(one, "model.dropout", 0.5)
    assert [plain(composer.compose(overrides)) for overrides in ([], words)] == before
