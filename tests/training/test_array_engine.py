"""An array gives each member what it would have alone."""

import errno
import math
import threading

import pytest
import torch
from fairseq import checkpoint_utils, utils
from helpers import TINY
from omegaconf import DictConfig, OmegaConf
from torch.nn import functional

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import load
from lnexp.tasks.contract import Member
from lnexp.training.checkpoints import averaged_model
from lnexp.training.engine import Engine
from lnexp.training.models import array as array_models
from lnexp.training.models.array import ArrayModels
from lnexp.training.models.array_checkpoints import member_model, write_checkpoint
from lnexp.training.models.array_config import as_array

#: Three epochs and a part of the fourth, beyond the updates that RAdam begins with.
UPDATES = 25
MEMBERS = (
    ("optimizer=adam", "lr_schedule=inverse_sqrt", "lr_max=2e-3", "warmup_updates=300", "seed=1"),
    ("optimizer=adam", "lr_schedule=inverse_sqrt", "lr_schedule.form=coupled", "lr_max=4e-3", "seed=1"),
    ("optimizer=adam", "lr_schedule=step", "lr_schedule.decay_epoch=3", "lr_max=2e-3", "seed=2"),
    ("optimizer=radam", "lr_schedule=linear", "lr_max=2e-3", "seed=3"),
    ("optimizer=sgd", "lr_schedule=constant", "lr_max=0.5", "seed=4"),
)
PLACEMENTS = ("post_ln", "pre_ln")
#: One of each optimizer. Schedules know no placement: all of them are trained with Post-LN.
OPTIMIZERS = (MEMBERS[0], *MEMBERS[3:])


@pytest.fixture
def config(where):
    def make(*overrides: str) -> DictConfig:
        cfg = compose([*TINY, *where, "order_seed=7", "max_tokens=200", "max_epoch=4", *overrides])
        OmegaConf.resolve(cfg)
        return cfg

    return make


@pytest.fixture
def folder(tmp_path):
    def make(name: str) -> RunFolder:
        made = RunFolder(tmp_path / f"{name}-00000000")
        made.checkpoints.mkdir(parents=True, exist_ok=True)
        return made

    return make


def corpus_of(cfg: DictConfig):
    return prepare(cfg.data, cfg.data_dir)


def build_array(cfgs, folder, name="array") -> Engine:
    members = [Member(cfg, folder(f"{name}{number}")) for number, cfg in enumerate(cfgs)]
    return Engine(members, corpus_of(cfgs[0]), ArrayModels)


def train_array(array: Engine) -> Engine:
    array.train()
    return array


def folders_of(engine: Engine) -> list[RunFolder]:
    return [member.folder for member in engine.members.values()]


def train_single(cfg, run: RunFolder, double: bool = False) -> Engine:
    engine = Engine([Member(cfg, run)], corpus_of(cfg))
    if double:
        engine.model.double()
        engine.trainer.clip_grad_norm = lambda limit: _double_norm(engine.model)  # fairseq takes norms in fp32
    engine.train()
    return engine


def _double_norm(model) -> torch.Tensor:
    return torch.nn.utils.get_total_norm([parameter.grad for parameter in model.parameters()])


def furthest(one: dict, other: dict) -> float:
    """The largest distance of two tensors of a name, relative to the norm of the first.

    A bias of keys is left out: it changes no attention, so its gradient is rounding, and it may start from zero.
    """
    exact = [(one[name].double(), other[name].double()) for name in one if not name.endswith("k_proj.bias")]
    return max(float((x - y).norm() / x.norm().clamp(min=1e-9)) for x, y in exact)


def configs_of(placement, config) -> list[DictConfig]:
    members = MEMBERS if placement == "post_ln" else OPTIMIZERS
    return [config(f"model={placement}", f"++fairseq.optimization.max_update={UPDATES}", *own) for own in members]


@pytest.mark.slow
@pytest.mark.parametrize("placement", [*PLACEMENTS, "admin"])
def test_members_equal_their_own_runs_in_exact_arithmetic(config, folder, monkeypatch, placement):
    """In double precision, where rounding does not grow to anything in so few updates: what is left is the mathematics.

    All optimizers and schedules in one array, each at a rate that trains.
    """
    monkeypatch.setattr(utils, "log_softmax", lambda x, dim, onnx_trace=False: functional.log_softmax(x, dim))
    cfgs = configs_of(placement, config)
    array = build_array(cfgs, folder)
    array.model.double()
    train_array(array)
    assert array.updates == UPDATES
    for number, cfg in enumerate(cfgs):
        single = train_single(cfg, folder(f"single{number}"), double=True)
        assert furthest(single.model.state_dict(), member_model(array.model, number)) < 1e-9
        records = zip(folders_of(single)[0].epochs(), folders_of(array)[number].epochs(), strict=True)
        for alone, together in records:
            for key in ("valid_loss", "valid_nll", "train_loss", "lr", "grad_norm"):
                assert together[key] == pytest.approx(alone[key], rel=1e-9), key
            for key in ("epoch", "update", "valid_bleu", "bleu_signature", "n_sentences", "beam"):
                assert together[key] == alone[key]


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_members_equal_their_own_runs_in_single_precision(config, folder, placement):
    """All but the bias of the keys: it changes no attention, so its gradient is rounding, along which Adam walks."""
    cfgs = configs_of(placement, config)
    array = train_array(build_array(cfgs, folder))
    for number, cfg in enumerate(cfgs):
        single = train_single(cfg, folder(f"single{number}"))
        alone = {name: x for name, x in single.model.state_dict().items() if not name.endswith("k_proj.bias")}
        assert furthest(alone, member_model(array.model, number)) < 1e-5
        for one, other in zip(folders_of(single)[0].epochs(), folders_of(array)[number].epochs(), strict=True):
            for key in ("valid_loss", "train_loss", "grad_norm"):
                assert other[key] == pytest.approx(one[key], rel=1e-5)


@pytest.mark.slow
def test_a_member_that_diverges_touches_no_other(config, folder):
    calm = [config(*own, "max_epoch=2") for own in MEMBERS]
    wild = [*calm[:1], config(*MEMBERS[4], "lr_max=1e30", "max_epoch=2"), *calm[2:]]
    undisturbed = train_array(build_array(calm, folder, "calm"))
    disturbed = train_array(build_array(wild, folder, "wild"))
    assert list(disturbed.diverged) == [1]
    why, updates = disturbed.diverged[1]
    assert why == "gradients are Nan/Inf"
    assert 0 < updates < undisturbed.updates
    assert folders_of(disturbed)[1].epochs() == []
    for number in (0, 2, 3, 4):
        one, other = (member_model(array.model, number) for array in (undisturbed, disturbed))
        assert all(torch.equal(one[name], other[name]) for name in one)
    ends = disturbed.test()
    assert ends[1]["test_bleu"] is None
    assert all(math.isfinite(ends[number]["test_bleu"]) for number in (0, 2, 3, 4))


@pytest.mark.slow
def test_divergence_is_noted_where_a_run_of_its_own_has_it(config, folder):
    cfg = config(*MEMBERS[4], "lr_max=1e30", "max_epoch=1")
    array = train_array(build_array([cfg, config(*MEMBERS[0], "max_epoch=1")], folder))
    single = train_single(cfg, folder("single"))
    assert array.diverged[0] == single.diverged[0]


def test_when_every_member_diverges_the_array_ends(config, folder):
    array = train_array(build_array([config(*MEMBERS[4], "lr_max=1e30")] * 2, folder))
    assert sorted(array.diverged) == [0, 1]
    assert [end["test_bleu"] for end in array.test()] == [None, None]


def test_an_error_in_training_is_not_hidden_by_another_one(config, folder, monkeypatch):
    array = build_array([config(*MEMBERS[0])], folder)

    def connect(*_, **__):
        raise AttributeError("no attribute of mine")

    monkeypatch.setattr(array.task, "train_step", connect)
    with pytest.raises(AttributeError, match="of mine"):
        array.train()


def test_dropout_differs_between_members_and_is_as_strong_as_alone(config, folder):
    cfgs = [config(*MEMBERS[0], "model.dropout=0.3") for _ in range(2)]
    array = build_array(cfgs, folder)
    array.model.train()
    ones = torch.ones(7, 2 * 500, 32)
    dropped = array.model.encoder.dropout_module(ones).eq(0)
    first, second = dropped.chunk(2, dim=1)
    assert not torch.equal(first, second)
    assert first.float().mean() == pytest.approx(0.3, abs=0.01)
    assert (first & second).float().mean() == pytest.approx(0.3**2, abs=0.01), "independent"


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["post_ln", "admin"])
def test_a_resumed_array_is_an_undisturbed_one(config, folder, placement):
    common = [f"model={placement}", "model.dropout=0.1", "checkpoints.keep=all", "max_epoch=3"]
    cfgs = [config(*common, *own) for own in MEMBERS]
    whole = train_array(build_array(cfgs, folder))
    again = build_array(cfgs, folder)
    for run in folders_of(again):
        run.drop_after(2)
    train_array(again)
    for number in range(len(cfgs)):
        one, other = (member_model(array.model, number) for array in (whole, again))
        assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
def test_an_epoch_is_trained_while_the_checkpoints_of_the_one_before_are_written(config, folder, monkeypatch):
    cfgs = [config(*own, "checkpoints.keep=all", "max_epoch=2") for own in MEMBERS[:2]]
    expected = train_array(build_array([config(*own, "max_epoch=1") for own in MEMBERS[:2]], folder, "one"))
    array = build_array(cfgs, folder)
    goes_on = threading.Event()

    def write_later(state, path):
        assert goes_on.wait(60)
        write_checkpoint(state, path)

    monkeypatch.setattr(array_models, "write_checkpoint", write_later)
    array.trainer.after_update.append(lambda: goes_on.set() if array.updates > expected.updates else None)
    train_array(array)
    for number, run in enumerate(folders_of(array)):
        assert run.saved.epochs() == [1, 2]
        saved, then = load(run.saved.of_epoch(1))["model"], member_model(expected.model, number)
        assert all(torch.equal(saved[name], then[name]) for name in then)


@pytest.mark.slow
def test_a_checkpoint_that_cannot_be_written_ends_the_array_when_the_others_are(config, folder, monkeypatch):
    array = build_array([config(*own) for own in MEMBERS[:3]], folder)
    full = folders_of(array)[0].saved.of_epoch(2)

    def write(state, path):
        if path == full:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write_checkpoint(state, path)

    monkeypatch.setattr(array_models, "write_checkpoint", write)
    with pytest.raises(OSError, match="No space left"):
        train_array(array)
    assert [run.saved.epochs() for run in folders_of(array)] == [[1], [1, 2], [1, 2]]


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "close"), [("fp32", 1e-5), ("bf16", 5e-3)])
def test_members_go_on_alone_and_runs_go_on_in_an_array(config, folder, precision, close):
    """Checkpoints are the same either way: the loss after three epochs does not depend on who trained which."""
    common = [f"precision={precision}", "checkpoints.keep=all", "max_epoch=3"]
    alone = [config(*own, *common) for own in (MEMBERS if precision == "fp32" else OPTIMIZERS)]
    cfgs = [*alone, config(*MEMBERS[0], "seed=9", *common)]  # the last one is never alone
    array = train_array(build_array(cfgs, folder))
    runs, expected = folders_of(array), pytest.approx(last_losses(array), rel=close)
    for cfg, run in zip(alone, runs, strict=False):
        run.drop_after(1)
        assert train_single(cfg, run).updates == array.updates
    assert last_losses(array) == expected
    for run in runs:
        run.drop_after(2)  # the second epoch is a single run's, but for the last one
    together = train_array(build_array(cfgs, folder))
    assert last_losses(together) == expected


def last_losses(array: Engine) -> list[float]:
    return [run.epochs()[-1]["valid_loss"] for run in folders_of(array)]


def test_a_member_that_diverges_where_no_validation_follows_is_noted(config, folder):
    cfgs = [config(*MEMBERS[4], "lr_max=1e30", "max_epoch=1"), config(*MEMBERS[0], "max_epoch=1")]
    array = build_array(cfgs, folder)
    array._after_validation = lambda epoch, valid: None
    train_array(array)
    assert list(array.diverged) == [0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["update_freq=2", "clip_norm=0.3"],
        ["model.encoder_embed_dim=36", "model.encoder_ffn_embed_dim=20"],
        ["model.share_decoder_input_output_embed=false"],
        ["++fairseq.dataset.valid_subset='valid,test'"],
    ],
    ids=str,
)
def test_what_a_model_or_an_update_may_be_besides(config, folder, options):
    cfgs = [config(*own, *options, "max_epoch=1") for own in (MEMBERS[0], MEMBERS[3])]
    array = train_array(build_array(cfgs, folder))
    single = train_single(cfgs[1], folder("single"))
    (alone,), (together,) = folders_of(single)[0].epochs(), folders_of(array)[1].epochs()
    for key in ("valid_loss", "train_loss", "grad_norm"):
        assert together[key] == pytest.approx(alone[key], rel=1e-4)
    assert together["update"] == alone["update"]


@pytest.mark.slow
def test_stock_fairseq_loads_a_members_checkpoint(config, folder):
    cfgs = [config(*own, "max_epoch=1") for own in MEMBERS[:2]]
    array = train_array(build_array(cfgs, folder))
    path = folders_of(array)[1].saved.of_epoch(1)
    (model,), saved, _ = checkpoint_utils.load_model_ensemble_and_task([str(path)])
    assert saved.model._name == "lnexp_post_ln"
    expected = member_model(array.model, 1)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["precision=fp16"], "precision=fp16: an array supports only fp32 or bf16"),
        (["probes.every=10"], "probes.every=10: an array has no probes"),
        (["++fairseq.optimization.stop_time_hours=1"], "fairseq.optimization.stop_time_hours=1.0: an array knows 0"),
        (["++fairseq.dataset.validate_after_updates=9"], "validate_after_updates=9: an array knows 0 alone"),
        (["fairseq.task.left_pad_target=true"], "fairseq.task.left_pad_target=True: an array knows False alone"),
        (["++fairseq.optimization.stop_min_lr=1"], "fairseq.optimization.stop_min_lr=1.0: an array knows -1.0 alone"),
        (
            ["fairseq.criterion._name=label_smoothed_cross_entropy_with_alignment"],
            "fairseq.criterion._name=label_smoothed_cross_entropy_with_alignment: an array knows label_smoo",
        ),
    ],
)
def test_what_an_array_cannot_do_is_refused_before_any_work(config, folder, options, message):
    with pytest.raises(UserError, match=message):
        build_array([config(*options)], folder)


def test_the_schedule_of_every_member_is_one_of_ours():
    """One of fairseq's would follow the mean validation loss of all members."""
    names = ("lnexp_constant", "reduce_lr_on_plateau")
    singles = [OmegaConf.create({"lr_scheduler": {"_name": name}}) for name in names]
    with pytest.raises(UserError, match=r"lr_schedule\._name=reduce_lr_on_plateau: an array has schedules of lnexp's"):
        as_array(singles, "fp32")


@pytest.mark.slow
def test_in_bf16_parameters_and_gradients_stay_single(config, folder):
    cfgs = [config(*own, "precision=bf16", "max_epoch=1") for own in MEMBERS]
    array = train_array(build_array(cfgs, folder))
    assert {parameter.dtype for parameter in array.model.parameters()} == {torch.float32}
    assert {parameter.grad.dtype for parameter in array.model.parameters()} == {torch.float32}
    batch = next(iter(array.trainer.get_valid_iterator("valid").next_epoch_itr(shuffle=False)))
    assert array.model(**batch["net_input"]).dtype == torch.bfloat16
    exact = train_array(build_array([config(*own, "max_epoch=1") for own in MEMBERS], folder, "exact"))
    for rounded, run in zip(folders_of(array), folders_of(exact), strict=True):
        assert rounded.epochs()[0]["valid_loss"] == pytest.approx(run.epochs()[0]["valid_loss"], rel=0.02)


@pytest.mark.slow
def test_the_average_of_a_members_last_checkpoints_is_tested(config, folder):
    cfgs = [config(*MEMBERS[number], "evaluation.average_last=2", "max_epoch=3") for number in (0, 2)]
    array = train_array(build_array(cfgs, folder))
    ends = array.test()
    for member, (end, run) in enumerate(zip(ends, folders_of(array), strict=True)):
        assert end["averaged_epochs"] == [2, 3]
        expected = averaged_model([run.saved.of_epoch(2), run.saved.of_epoch(3)])
        tested = member_model(array.model, member)
        assert all(torch.equal(tested[name], tensor) for name, tensor in expected.items())
        assert len((run.path / "hypotheses" / "test.averaged.txt").read_text().splitlines()) == end["n_sentences"]


@pytest.mark.slow
def test_all_of_valid_is_translated_as_for_a_run_of_its_own(config, folder):
    whole = ["evaluation.valid_sentences=5", "evaluation.whole_valid_every=1", "max_epoch=1", "lr_max=1e-2"]
    cfgs = [config(*MEMBERS[0], *whole), config(*MEMBERS[2], *whole)]
    array = train_array(build_array(cfgs, folder))
    single = train_single(cfgs[1], folder("single"))
    (alone,), (together,) = folders_of(single)[0].epochs(), folders_of(array)[1].epochs()
    for key in ("n_sentences", "whole_n_sentences"):
        assert together[key] == alone[key]
    assert together["whole_valid_bleu"] == pytest.approx(alone["whole_valid_bleu"], abs=0.5)
