"""The table of options is whole, and what is derived from it is what it says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

from lnexp.checks import MOST_WHOLE, POSITIVE, whole
from lnexp.configuration import check, check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.options import Alias, Option, Table, flag_of, listed
from lnexp.options.common import LABELS
from lnexp.overrides import spell_out
from lnexp.paths import CONFIG_DIR
from lnexp.plain import nested
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identity
from lnexp.tasks import table_of_task

pytestmark = pytest.mark.slow

TABLE = table_of_task("translation")
#: Configs that together have every option.
CONFIGS = [[], ["lr_schedule=step", "+recipe=fig2a", "+arm=x", "+label=x"], ["optimizer=sgd", "profile=paper"]]


def leaves(node: DictConfig, prefix: str = "") -> list[str]:
    found = []
    for key in node:
        inner = node._get_node(key)
        is_group = isinstance(inner, DictConfig) and isinstance(inner._content, dict)
        found += leaves(inner, f"{prefix}{key}.") if is_group else [f"{prefix}{key}"]
    return found


@pytest.mark.parametrize("overrides", CONFIGS, ids=str)
def test_every_option_of_the_config_has_a_row_or_stands_in_a_group_that_is_open(overrides):
    open_groups = [option.name for option in TABLE.rows if option.is_group]
    known = {place for option in TABLE.rows for place in TABLE.places_of(option)}
    for leaf in leaves(compose(overrides)):
        assert leaf in known or any(leaf.startswith(f"{group}.") for group in open_groups), leaf


def test_every_row_names_an_option_that_exists():
    there = {leaf for overrides in CONFIGS for leaf in leaves(compose(overrides))} | {"hydra"}
    groups = {name.rpartition(".")[0] for name in there} | {path.name for path in CONFIG_DIR.iterdir()}
    for option in (*TABLE.ours, *LABELS):
        assert option.name in there | groups | {name.partition(".")[0] for name in there}, option.name


def test_every_row_says_what_it_is_and_every_name_stands_there_once():
    for option in TABLE.ours:
        assert option.help, option.name
    names = [name for option in TABLE.ours for name in (option.name, *(alias.name for alias in option.aliases))]
    assert len(names) == len(set(names))


def test_what_is_published_keeps_its_names_and_order():
    """Committed files of provenance have them."""
    assert TABLE.published() == (
        "profile", "data.name", "norm.kind", "lr_max", "warmup_updates", "seed", "order_seed", "max_epoch",
        "max_update", "max_tokens", "update_freq", "precision", "init", "label_smoothing", "clip_norm",
        "model.encoder_layers", "model.decoder_layers", "model.encoder_embed_dim", "model.encoder_ffn_embed_dim",
        "model.encoder_attention_heads", "model.dropout", "optimizer.betas", "optimizer.weight_decay",
        "lr_schedule.form", "lr_schedule.decay_from", "lr_schedule.decay_epoch", "evaluation.test_beam",
        "evaluation.lenpen",
    )  # fmt: skip


#: A value that is not the default, by option; of the others the value follows from the kind.
OTHER_VALUES = {
    "norm.kind": "rms_norm", "precision": "bf16", "init": "paper", "device": "auto", "checkpoints.keep": "all",
    "tracker.mode": "disabled", "data.name": "mine", "tracker.project": "mine", "runs_dir": "/x", "data_dir": "/x",
    "data.source_lang": "fr", "data.target_lang": "fr", "optimizer.betas": "[0.9,0.9]", "model.dropout": "0.25",
    "optimizer.weight_decay": "0.25", "lr_schedule.form": "coupled", "label_smoothing": "0.25", "clip_norm": "0.25",
    "norm.fix_norm": "true", "model.checkpoint_activations": "true", "force": "true",
    "qk_norm": "true", "model.share_all_embeddings": "true",
}  # fmt: skip
CHANGEABLE = [
    option
    for option in TABLE.ours
    if not option.is_group and not (CONFIG_DIR / option.name).is_dir() and option.name != "lr_schedule.decay_epoch"
]


@pytest.mark.parametrize("option", CHANGEABLE, ids=lambda option: option.name)
def test_an_option_changes_the_identity_if_and_only_if_it_decides_numbers(option):
    if option.name == "profile":
        return
    override = f"{option.name}={OTHER_VALUES.get(option.name, 77)}"
    base = ["warmup_updates=7"]  # with the default's full warm-up, both forms of inverse_sqrt are one
    if option.name == "warmup_updates":
        base = []
    assert (identity(compose([*base, override])) != identity(compose(base))) == option.decides, override


ALIASES = {
    "lr_schedule.warmup_updates=7": "warmup_updates=7",
    "fairseq.lr_scheduler.warmup_updates=7": "warmup_updates=7",
    "++lr_schedule.warmup_updates=${scale.warmup_updates.full}": "warmup_updates=${scale.warmup_updates.full}",
    "fairseq.optimization.lr=[1e-3]": "lr_max=1e-3",
    "fairseq.lr_scheduler.lr=[1e-3]": "lr_max=1e-3",
    "lr_schedule.lr=[1e-3]": "lr_max=1e-3",
    "optimizer.lr=[1e-3]": "lr_max=1e-3",
    "fairseq.optimization.lr=1e-3,2e-3": None,
    "fairseq.optimization.lr=[1e-3],[2e-3]": None,
    "fairseq.optimization.update_freq=[4]": "update_freq=4",
    "fairseq.optimization.update_freq=[4,2]": None,
    "fairseq.optimization.max_epoch=3": "max_epoch=3",
    "fairseq.optimization.max_update=3": "max_update=3",
    "fairseq.optimization.max_update=0": "max_update=null",
    "fairseq.optimization.clip_norm=1": "clip_norm=1",
    "fairseq.dataset.max_tokens=9": "max_tokens=9",
    "fairseq.dataset.max_tokens_valid=9": "evaluation.max_tokens=9",
    "fairseq.criterion.label_smoothing=0": "label_smoothing=0",
    "fairseq.common.seed=1,2": "seed=1,2",
    "fairseq.task.order_seed=3": "order_seed=3",
    "fairseq.task.source_lang=fr": "data.source_lang=fr",
    "model.init=paper": "init=paper",
    "fairseq.model.norm=rms_norm": "norm.kind=rms_norm",
    "model.fix_norm=true": "norm.fix_norm=true",
    "model.qk_norm=true": "qk_norm=true",
    "fairseq.common.fp16=true": "precision=fp16",
    "++fairseq.common.bf16=True": "precision=bf16",
    "fairseq.common.fp16=false": None,
    "fairseq.common.cpu=true": "device=cpu",
    "~fairseq.common.seed": None,
    "fairseq.model={_name: x}": None,
    "fairseq.model.attention_dropout=0.1": "++model.attention_dropout=0.1",
    "fairseq.common.log_interval=7": "++fairseq.common.log_interval=7",
    "~fairseq.common.log_interval": "~fairseq.common.log_interval",
    "model=pre_ln": "model=pre_ln",
    "subword@data=none": "subword@data=none",
    "--cfg": "--cfg",
    "+data.text.own=1": "+data.text.own=1",
}


@pytest.mark.parametrize(("said", "meant"), ALIASES.items(), ids=list(ALIASES))
def test_a_value_under_a_second_name_becomes_ours_or_is_refused(said, meant):
    if meant is None:
        with pytest.raises(UserError, match="by another name; say "):
            spell_out([said])
    else:
        assert spell_out([said]) == [meant]
        assert spell_out([meant]) == [meant]


@pytest.mark.parametrize(
    ("alias", "ours"), [(said, meant) for said, meant in ALIASES.items() if meant and meant.endswith("=7")]
)
def test_the_second_name_makes_the_same_run(alias, ours):
    assert identity(compose([alias])) == identity(compose([ours]))


def test_every_interpolation_of_one_of_our_options_is_an_alias():
    """What fairseq is told by our options has no second name that nobody knows of."""
    aliases = {place for option in TABLE.rows for place in TABLE.places_of(option)}
    groups = [option.name for option in TABLE.rows if option.is_group and option.name not in ("fairseq", "scale")]
    for overrides in CONFIGS:
        cfg = compose(overrides)
        for leaf in leaves(cfg):
            parent = OmegaConf.select(cfg, leaf.rpartition(".")[0]) if "." in leaf else cfg
            raw = str(parent._get_node(leaf.rpartition(".")[2])._value())
            from_ours = "${" in raw and "scale." not in raw
            assert not from_ours or leaf in aliases or leaf in groups, f"{leaf}: {raw}"


def test_a_file_that_gives_an_option_two_values_is_refused():
    cfg = compose([])
    cfg.lr_schedule.warmup_updates = 7
    with pytest.raises(UserError, match=r"^lr_schedule.warmup_updates=7: .* which is 300; set warmup_updates$"):
        check(cfg)
    cfg = compose([])
    cfg.fairseq.common.bf16 = True
    with pytest.raises(UserError, match=r"^fairseq.common.bf16=True: .* which is fp32; set precision$"):
        check(cfg)


@given(st.lists(st.sampled_from(sorted(ALIASES)), max_size=4))
def test_spelling_out_twice_changes_nothing(words):
    kept = [word for word in words if ALIASES[word]]
    assert spell_out(spell_out(kept)) == spell_out(kept)


names = st.text("abc", min_size=1, max_size=5)


@given(names, names, st.integers(1, 99), st.floats(1e-6, 1e6))
def test_aliases_of_any_kind_lead_back(name, other, count, rate):
    rows = [
        Option(f"own.{name}", whole(1), aliases=[Alias(f"there.{name}")]),
        Option("own.rate_", POSITIVE, aliases=[listed("there.rate_")]),
        Option("own.kind_", POSITIVE, aliases=[flag_of("there.kind_", other)]),
    ]
    table = Table(rows)
    assert table.in_our_words(f"there.{name}", str(count)) == (f"own.{name}", str(count))
    assert table.in_our_words("there.rate_", f"[{rate}]") == ("own.rate_", str(rate))
    assert table.in_our_words("there.kind_", "true") == ("own.kind_", other)
    assert rows[1].aliases[0].there(rate) == [rate]
    assert rows[2].aliases[0].there(other) is True


@given(st.integers(max_value=MOST_WHOLE), st.integers(0, 5))
def test_whole_numbers_are_checked_against_the_least(value, least):
    if value >= least:
        whole(least).check("x", value)
    else:
        with pytest.raises(UserError, match=f"x={value}: must be at least {least}"):
            whole(least).check("x", value)
    whole(least).or_null().check("x", None)


@pytest.mark.parametrize(
    "override",
    [
        "seed=4294967296", "order_seed=4294967296", "first_seed=4294967296", "threads=100000", "lr_max=inf",
        "lr_max=nan", "clip_norm=-1", "clip_norm=nan", "label_smoothing=nan", "model.dropout=2", "model.dropout=nan",
        "+model.attention_dropout=2", "+model.activation_dropout=-1", "optimizer.betas=[0.9,2]", "optimizer.betas=0.9",
        "optimizer.weight_decay=-1", "optimizer.weight_decay=nan", "evaluation.lenpen=nan", "evaluation.lenpen=-inf",
        "evaluation.max_len_a=-5", "fairseq.checkpoint.restore_file=/missing", "fairseq.dataset.train_subset=valid",
        "fairseq.dataset.valid_subset=train", "fairseq.dataset.batch_size=0", "fairseq.dataset.curriculum=1",
        "fairseq.optimization.stop_min_lr=nan", "fairseq.checkpoint.reset_optimizer=true",
        "fairseq.checkpoint.reset_dataloader=true", "fairseq.common.wandb_project=mine",
        "fairseq.checkpoint.no_last_checkpoints=false", "fairseq.checkpoint.continue_once=/mine.pt",
        "fairseq.checkpoint.no_save=true", "fairseq.checkpoint.no_epoch_checkpoints=true",
        "fairseq.checkpoint.save_interval=2", "fairseq.checkpoint.checkpoint_suffix=-x",
        "fairseq.checkpoint.no_save_optimizer_state=true", "fairseq.checkpoint.write_checkpoints_asynchronously=true",
        "fairseq.checkpoint.optimizer_overrides='{lr: 1}'", "fairseq.checkpoint.reset_meters=true",
        "fairseq.common.tpu=true", "fairseq.common.model_parallel_size=2", "fairseq.common.suppress_crashes=true",
        "fairseq.common.empty_cache_freq=-1", "fairseq.common.min_loss_scale=0", "fairseq.common.min_loss_scale=nan",
        "fairseq.common.all_gather_list_size=0", "fairseq.distributed_training.zero_sharding=os",
        "fairseq.distributed_training.ddp_backend=fully_sharded", "fairseq.distributed_training.ddp_backend=slowmo",
        "fairseq.distributed_training.ddp_comm_hook=fp16", "fairseq.distributed_training.fix_batches_to_gpus=true",
        "fairseq.distributed_training.pipeline_model_parallel=true", "fairseq.checkpoint.keep_last_epochs=1",
        "fairseq.checkpoint.keep_best_checkpoints=1", "fairseq.optimization.sentence_avg=true",
        "fairseq.criterion.sentence_avg=true",
        "fairseq.optimization.use_bmuf=true", "fairseq.optimization.stop_time_hours=-1",
        "fairseq.optimization.stop_time_hours=nan", "fairseq.dataset.num_workers=-1", "fairseq.dataset.num_workers=65",
        "fairseq.dataset.required_seq_len_multiple=0", "fairseq.dataset.required_batch_size_multiple=1025",
        "fairseq.dataset.num_shards=2", "fairseq.dataset.shard_id=1", "fairseq.dataset.fixed_validation_seed=-1",
        "fairseq.dataset.max_valid_steps=0", "fairseq.task.upsample_primary=2", "fairseq.task.train_subset=valid",
        "fairseq.ema.ema_decay=1.5", "fairseq.criterion.ignore_prefix_size=1", "evaluation.lenpen=1e9",
        "+optimizer.momentum=1.5", "+optimizer.momentum=nan", "+optimizer.gather=-1",
        "+lr_schedule.factor=2", "+lr_schedule.factor=inf",
        "fairseq.checkpoint.patience=x", "fairseq.checkpoint.patience=-3", "fairseq.checkpoint.patience=3",
        "+lr_schedule.decay_epoch=0", "+model.keel_alpha=0", "+model.keel_alpha=inf",
        "+model.hybrid_norm_first_pre_ln=2",
        "diagnostics.at=often", "diagnostics.at=5", "diagnostics.at=[0]", "diagnostics.at=[1.5]",
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_meant_is_refused_in_one_line(override):
    name = override.lstrip("+").partition("=")[0]
    with pytest.raises(UserError, match=rf"^{name}=[^\n]*must be[^\n]*$"):
        check(compose([override]))


def test_masks_that_change_by_epoch_are_drawn_in_the_process_that_trains():
    with pytest.raises(UserError, match=r"^fairseq.dataset.num_workers=1: must be 0; masks are drawn anew"):
        check(compose(["task=masked_lm", "data=bert_toy", "fairseq.dataset.num_workers=1"]))


def test_greatest_values_that_can_be_meant_are_taken():
    check(compose(["seed=4294967295", "threads=1024", "clip_norm=0", "model.dropout=0", "evaluation.lenpen=-1"]))
    check(compose(["fairseq.dataset.valid_subset='valid,test'", "fairseq.dataset.batch_size=null"]))
    check(compose(["fairseq.dataset.num_workers=64", "fairseq.distributed_training.ddp_backend=c10d"]))
    check(compose(["optimizer=sgd", "optimizer.momentum=0.9", "lr_schedule=step", "lr_schedule.factor=1"]))
    check(compose(["model=keel", "model.keel_alpha=2"]))


def test_threads_are_part_of_a_run_that_has_several():
    assert identity(compose(["threads=1"])) == identity(compose([]))
    assert len({identity(compose([f"threads={count}"])) for count in (1, 2, 4)}) == 3


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("model", 5, "must be a group of options"),
        ("fairseq.distributed_training", None, "must be a group of options"),
        ("intervention", [[1]], "must be a group of options"),
        ("model._name", 1.5, "must be text"),
        ("norm.kind", None, "must be text"),
        ("clip_norm", 10**400, "must be a number from 0"),
        ("lr_max", 10**400, "must be positive and finite"),
        ("fairseq.common.log_interval", 0, "must be at least 1"),
        ("fairseq.dataset.validate_interval", 0, "must be at least 1"),
        ("max_epoch", 2**63, "must be at most 1000000000000"),
    ],
)
def test_a_value_of_another_kind_is_refused_in_a_line(name, value, words):
    cfg = compose([])
    OmegaConf.set_struct(cfg, False)
    OmegaConf.update(cfg, name, value, merge=False)
    with pytest.raises(UserError, match=re.escape(words)) as error:
        check(cfg)
    assert str(error.value).startswith(f"{name}=")


@pytest.mark.parametrize("group", ["model", "optimizer", "lr_schedule", "fairseq.criterion", "fairseq.bmuf"])
def test_text_that_fairseq_would_run_is_refused_wherever_it_was_said(group):
    """fairseq's Adam evaluates ``adam_betas``; a recipe or a run's config may have set it."""
    for harmless in ("(0.9, 0.98)", "inverse-sqrt"):
        TABLE.check(nested({f"{group}.adam_betas": harmless}))
    with pytest.raises(UserError, match="must be words, a number or a list; fairseq would run it as code"):
        TABLE.check(nested({f"{group}.adam_betas": "__import__('os').getpid()"}))


def test_a_label_that_is_a_number_names_a_folder():
    cfg = check_and_resolve(compose(["+label=1.5", "+recipe=2024"]))
    assert "-1.5-s1-" in str(RunFolder.of(cfg).path)
    assert "2024" in RunFolder.of(cfg).path.parts
