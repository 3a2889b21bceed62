"""What makes two configs one run."""

import pytest
from omegaconf import open_dict

from lnexp.checks import whole
from lnexp.configuration import check, compose
from lnexp.numerics import NUMERICS
from lnexp.options import Option, Table
from lnexp.plain import plain
from lnexp.runs import identity as identity_module
from lnexp.runs.identity import identities, identity, label_of_overrides, readable_name

pytestmark = pytest.mark.slow

SAME = [
    ["runs_dir=/elsewhere", "data_dir=/elsewhere"],
    ["tracker=none"],
    ["tracker=wandb"],
    ["device=cpu"],
    ["force=true"],
    ["checkpoints.keep=all"],
    ["evaluation.average_last=0"],
    ["+recipe=fig2a", "+arm=warmup_low"],
    ["n_seeds=5", "first_seed=100"],
    ["lr_max=0.004"],
    ["lr_max=4e-3"],
    ["data.name=mine"],
    ["fairseq.common.log_interval=7"],
    ["scale.lr_max.low=1"],
    ["fairseq.checkpoint.keep_last_epochs=2"],
    ["order_seed=1"],  # which is the seed anyhow
    ["evaluation.whole_valid_every=0"],
    ["model.checkpoint_activations=false"],
    ["fairseq.distributed_training.distributed_world_size=2"],
]
OTHER = [
    ["seed=2"],
    ["order_seed=2"],
    ["seed=2", "order_seed=1"],
    ["evaluation.whole_valid_every=2"],
    ["evaluation.average_last=5"],
    ["model=pre_ln"],
    ["model.dropout=0.1"],
    ["model.checkpoint_activations=true"],
    ["optimizer=radam"],
    ["optimizer.betas=[0.9,0.999]"],
    ["lr_max=2e-3"],
    ["warmup_updates=1"],
    ["init=paper"],
    ["max_epoch=3"],
    ["max_tokens=1024"],
    ["label_smoothing=0"],
    ["precision=bf16"],
    ["data.text.seed=1"],
    ["evaluation.valid_beam=5"],
    ["fairseq.optimization.stop_min_lr=1e-9"],
    ["fairseq.checkpoint.finetune_from_model=/x.pt"],
    ["fairseq.model.attention_dropout=0.1"],
    ["fairseq.optimizer.eps=1e-6"],
    ["fairseq.lr_scheduler.decay_from=10"],
]


@pytest.mark.parametrize("overrides", SAME, ids=str)
def test_what_cannot_change_the_numbers_changes_no_identity(overrides):
    assert identity(compose(overrides)) == identity(compose([]))


@pytest.mark.parametrize(
    "overrides", [[], OTHER[0], ["start.epoch=0", "task=sentence_pairs", "data=bert_toy"]], ids=str
)
def test_resolved_settings_have_the_identity_of_their_config_and_stay_as_they_are(overrides):
    cfg = compose(overrides)
    settings = check(cfg)
    assert settings == plain(cfg)
    assert identity(settings) == identity(cfg)
    assert settings == plain(cfg)


@pytest.mark.parametrize("overrides", OTHER, ids=str)
def test_what_can_change_the_numbers_makes_another_run(overrides):
    assert identity(compose(overrides)) != identity(compose([]))


@pytest.mark.parametrize(("warmup_updates", "alike"), [(300, True), (299, False)])
def test_schedules_with_the_same_rates_are_one(warmup_updates, alike):
    forms = [f"lr_schedule.form={form}" for form in ("coupled", "decoupled")]
    of = [identity(compose([form, f"warmup_updates={warmup_updates}", "lr_schedule.decay_from=300"])) for form in forms]
    assert (of[0] == of[1]) is alike


def test_a_task_adds_parts_that_decide(monkeypatch):
    options = [Option("masking.seed", whole(0)), Option("masking.workers", whole(1), decides=False)]
    monkeypatch.setattr(identity_module, "table_of", lambda cfg: Table(options))

    def of(**masking) -> str:
        cfg = compose([])
        with open_dict(cfg):
            cfg.masking = masking
        return identity(cfg)

    assert of(seed=1, workers=1) == of(seed=1, workers=2)
    assert of(seed=1, workers=1) != of(seed=2, workers=1)


def test_the_name_tells_a_person_what_is_there():
    cfg = compose(["model=pre_ln", "lr_max=5e-4", "warmup_updates=1", "seed=11", "lr_schedule=step"])
    assert readable_name(cfg) == "pre_ln-adam-lr0.0005-w1-step-s11"


def test_a_run_is_found_under_whichever_recipe_asked_first(tmp_path):
    from lnexp.runs.folder import RunFolder

    where = f"runs_dir={tmp_path}"
    first = RunFolder.of(compose([where, "+recipe=fig2a", "+arm=warmup_low"]))
    assert first.path.parent == tmp_path / "fig2a"
    first.path.mkdir(parents=True)
    assert RunFolder.of(compose([where, "+recipe=fig4ab", "+arm=post_ln_adam_warmup"])).path == first.path
    assert RunFolder.of(compose([where])).path == first.path
    assert RunFolder.of(compose([where, "seed=2"])).path.parent == tmp_path / "adhoc"


@pytest.mark.parametrize(
    "overrides", [[], ["profile=paper", "model=pre_ln"], ["+data.text.own_seed=${seed}"], ["order_seed=1"]]
)
def test_identities_by_seed_are_those_of_the_configs(overrides):
    cfg = compose([*overrides, "seed=3"])
    seeds = [1, 3, 12345]
    assert identities(cfg, seeds) == [identity(compose([*overrides, f"seed={seed}"])) for seed in seeds]
    assert cfg.seed == 3, "the config is left as it was"


def test_a_seed_within_something_else_is_no_obstacle():
    cfg = compose(["+data.text.label=run-${seed}"])
    assert identities(cfg, [1, 2]) == [identity(compose(["+data.text.label=run-${seed}", f"seed={n}"])) for n in (1, 2)]


@pytest.mark.parametrize(
    ("overrides", "first", "second"),
    [
        ([], "d9c75e34", "e2e72d88"),
        (["seed=12", "model=pre_ln", "profile=paper", "lr_schedule=step", "threads=1"], "cccb03a8", "f9772fda"),
    ],
    ids=str,
)
def test_identities_stay_what_they_were(overrides, first, second):
    """Run folders and committed tables carry them: a setting that is new may not change the runs that leave it be.

    Within one version of the numerics, that is. Runs of the first are named as before there were versions, so that
    published results can be asked for their runs; those of the second are other runs, for their numbers are others.
    """
    cfg = compose(overrides)
    assert (identity(cfg, numerics=1), identity(cfg, numerics=2)) == (first, second)


def test_another_version_of_the_numerics_makes_another_run():
    cfg = compose([])
    assert len({identity(cfg, numerics=version) for version in range(1, NUMERICS + 2)}) == NUMERICS + 1
    assert identity(cfg) == identity(cfg, numerics=NUMERICS)


def test_names_say_what_else_was_said_of_a_run():
    said = ["model=pre_ln", "lr_max=1", "seed=3", "model.dropout=0.3", "max_epoch=5", "runs_dir=/x/y", "tracker=none"]
    assert label_of_overrides(said) == "dropout0.3-max_epoch5"
    assert label_of_overrides(["optimizer.betas=[0.9,0.999]"]) == "betas_0.9_0.999"
    assert label_of_overrides(["model=pre_ln", "seed=3"]) == ""
    plain, named = compose(["model=pre_ln"]), compose(["model=pre_ln", "+label=dropout0.3"])
    assert "-inverse_sqrt-dropout0.3-s1" in readable_name(named)
    assert identity(plain) == identity(named), "a name decides nothing"
