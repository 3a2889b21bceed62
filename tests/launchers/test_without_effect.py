"""Options that change nothing of the runs that a command line asks for."""

import pytest

from lnexp.configuration import compose
from lnexp.launchers import without_effect as without_effect_module
from lnexp.launchers.without_effect import without_effect


def warnings(*options: str, with_recipe: bool = False) -> list[str]:
    return without_effect(options, [options], compose, with_recipe)


@pytest.mark.parametrize(
    ("option", "others"),
    [
        ("scale.toy.train_pairs=100", ["data=tokenized", "data.path=/nowhere", "data.text.sha256=null"]),
        ("scale.lr_max.low=1", []),
        ("scale.masked_lm.warmup_updates=5", []),
        ("label_smoothing=0.2", ["task=masked_lm", "data=bert_toy"]),
    ],
)
def test_an_option_that_the_run_does_not_have_is_named(option, others):
    assert warnings(*others, option) == [f"warning: {option}: has no effect on this run"]


@pytest.mark.parametrize(
    "options",
    [
        ["scale.toy.train_pairs=100", "lr_max=1", "seed=5", "model=pre_ln", "max_epoch=9", "model.dropout=0.3"],
        ["lr_max=4e-3", "max_epoch=8"],
        ["runs_dir=/x", "device=cpu", "tracker=none", "data.name=mine", "fairseq.dataset.num_workers=2"],
        ["data=plain", "data.path=/nowhere", "data.name=mine", "data.text.sha256=null"],
    ],
)
def test_what_has_an_effect_or_is_the_default_or_decides_nothing_is_not(options):
    assert warnings(*options) == []


def test_one_run_of_a_sweep_on_which_it_has_an_effect_is_enough():
    decay = "scale.decay_epoch=3"
    jobs = [[f"lr_schedule={schedule}", decay] for schedule in ("constant", "step")]
    assert without_effect([decay], jobs, compose, with_recipe=True) == []
    (line,) = without_effect([decay], [*jobs[:1], [*jobs[0], "seed=2"]], compose, with_recipe=True)
    assert line == f"warning: {decay}: has no effect on these runs"


@pytest.mark.parametrize(
    "options",
    [
        ["scale.toy.train_pairs=100", "model=pre_ln", "model.dropout=0.3", "lr_max=1e-3", "max_epoch=9", "seed=5"],
        ["evaluation.valid_beam=3", "max_tokens=100", "order_seed=1", "precision=bf16", "label_smoothing=0.2"],
        ["lr_schedule.form=coupled", "warmup_updates=300", "lr_schedule.decay_from=300"],
        ["lr_schedule.form=coupled", "warmup_updates=200"],
        ["task=masked_lm", "data=bert_toy", "model.encoder_layers=3", "label_smoothing=0.2", "model.dropout=0.1"],
    ],
)
def test_the_short_way_finds_what_the_long_one_finds(options, monkeypatch):
    found = warnings(*options)
    monkeypatch.setattr(without_effect_module._Job, "is_decided_by", lambda job, key: False)
    assert warnings(*options) == found


def test_what_a_recipe_alone_knows_is_named_without_one():
    assert warnings("n_seeds=3", "arms=a_*", with_recipe=True) == []
    assert warnings("n_seeds=3") == ["warning: n_seeds=3: has no effect without a recipe"]
