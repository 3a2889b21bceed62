"""fairseq's trainer as we set it up."""

import math
import os
import signal
from types import SimpleNamespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.optim.fp16_optimizer import FP16Optimizer
from helpers import TINY, without_times
from omegaconf import OmegaConf

import lnexp.training.trainer as training_trainer
from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.runs import own_files
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member
from lnexp.training.engine import Engine
from lnexp.training.models.array import ArrayModels
from lnexp.training.models.base import Losses, Models
from lnexp.training.models.single import SingleModel
from lnexp.training.trainer import Trainer

pytestmark = pytest.mark.slow


@pytest.fixture
def build(tmp_path, where):
    def make(*overrides: str, name: str = "run-00000000", kind: type[Models] = SingleModel) -> Engine:
        cfg = compose([*TINY, *where, "max_epoch=1", *overrides])
        OmegaConf.resolve(cfg)
        folder = RunFolder(tmp_path / name)
        folder.checkpoints.mkdir(parents=True, exist_ok=True)
        return Engine([Member(cfg, folder)], prepare(cfg.data, cfg.data_dir), kind)

    return make


def folder_of(engine: Engine) -> RunFolder:
    return engine.members[0].folder


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
@pytest.mark.parametrize("optimizer", ["adam", "radam", "sgd"])
def test_every_optimizer_trains_in_every_precision_of_a_cpu(build, precision, dtype, optimizer):
    engine = build(f"precision={precision}", f"optimizer={optimizer}", "lr_max=1e-3")
    assert {parameter.dtype for parameter in engine.model.parameters()} == {dtype}
    before = [parameter.detach().clone() for parameter in engine.model.parameters()]
    records: list = []
    engine.train(lambda member, record: (records.append(record), folder_of(engine).append(record)))
    assert math.isfinite(records[-1]["valid_loss"])
    assert math.isfinite(records[-1]["grad_norm"])
    moved = [not torch.equal(a, b) for a, b in zip(before, engine.model.parameters(), strict=True)]
    assert sum(moved) > len(moved) * 0.5


def test_a_validation_that_the_memory_is_too_small_for_is_an_error(build, monkeypatch):
    """fairseq would take the gradients, which are rows of an array's optimizer, and try again."""
    engine, forward = build(), LabelSmoothedCrossEntropyCriterion.forward
    first = iter([True])

    def big(self, model, *others, **options):
        if not model.training and next(first, False):
            raise torch.OutOfMemoryError("out of memory")
        return forward(self, model, *others, **options)

    monkeypatch.setattr(LabelSmoothedCrossEntropyCriterion, "forward", big)
    with pytest.raises(torch.OutOfMemoryError):
        engine.train()


def test_an_update_has_other_random_numbers_than_that_of_the_next_seed_before_it(build):
    trainer = build().trainer
    seeds = []
    for seed, update in ((21, 5), (22, 4), (21, 5)):
        trainer.cfg.common.seed = seed
        trainer.set_num_updates(update)
        trainer._set_seed()
        seeds.append(torch.initial_seed())
    assert seeds[0] != seeds[1]
    assert seeds[0] == seeds[2]


class StopHereError(Exception):
    """What a signal does in a test."""


def test_a_signal_in_a_validation_waits_for_its_end(build, monkeypatch):
    def stop(number, frame):
        raise StopHereError

    engine = build("max_epoch=3")
    validate = engine.evaluation.validate

    def told_meanwhile(*arguments):
        os.kill(os.getpid(), signal.SIGUSR1)
        return validate(*arguments)

    monkeypatch.setattr(engine.evaluation, "validate", told_meanwhile)
    before = signal.signal(signal.SIGUSR1, stop)
    with pytest.raises(StopHereError):
        engine.train()
    signal.signal(signal.SIGUSR1, before)
    assert [record["epoch"] for record in folder_of(engine).epochs()] == [1]
    assert [path.name for path in folder_of(engine).checkpoints.glob("*.pt")] == ["checkpoint1.pt"]


def omegas(engine) -> torch.Tensor:
    named = engine.model.named_parameters()
    return torch.cat([parameter.detach().float() for name, parameter in named if "omega" in name])


def test_what_a_placement_took_from_its_first_batch_outlives_the_first_update(build):
    """fairseq's half-precision optimizers have taken a copy of the parameters by then, and write it back."""
    found = {}
    for precision in ("fp32", "bf16"):
        engine = build("model=admin", f"precision={precision}", "lr_max=1e-9", "lr_schedule=constant", name=precision)
        engine.train(lambda member, record: None)
        found[precision] = omegas(engine)
    assert found["fp32"].max() > 1.1
    torch.testing.assert_close(found["bf16"], found["fp32"], rtol=0.02, atol=0)


def test_a_look_before_training_takes_the_batch_of_the_first_update(build):
    """Admin starts from it, so another one would change the training."""
    found = []
    for probes in (0, 1000):
        limit = "fairseq.dataset.batch_size=3"
        settings = ("model=admin", limit, f"probes.every={probes}", "lr_max=1e-9", "lr_schedule=constant")
        engine = build(*settings, name=f"run-{probes:08d}")
        engine.train(lambda member, record: None)
        found.append(omegas(engine))
    assert torch.equal(*found)


def test_a_look_before_training_sees_what_a_placement_takes_from_the_first_batch(build):
    records: dict[str, list] = {"admin": [], "post_ln": []}
    for model, seen in records.items():
        engine = build(f"model={model}", "probes.every=1000", "lr_max=1e-9", "lr_schedule=constant", name=model)
        engine.train(lambda member, record, seen=seen: seen.append(record))
        if model == "admin":
            looked_at = omegas(engine)
    admin, post = ([record for record in seen if record["kind"] == "probe"] for seen in records.values())
    assert len(admin) == len(post)
    assert admin[-1]["before_norm"] > 1.1 * post[-1]["before_norm"], "the decoder's last block weighs its stream"
    engine = build("model=admin", "lr_max=1e-9", "lr_schedule=constant")
    engine.train(lambda member, record: None)
    assert torch.equal(omegas(engine), looked_at), "the same batch, whoever looks first"


def test_a_run_has_the_threads_that_its_config_states(build):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        build()
        assert torch.get_num_threads() == 1
        build("threads=2", name="run-11111111")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_schedule_without_an_end_ends_with_the_run(build):
    engine = build("lr_schedule=linear", "max_epoch=3", "max_tokens=100", "update_freq=2")
    engine.train()
    assert engine.trainer.lr_scheduler.total_updates == engine.updates
    assert folder_of(engine).epochs()[-1]["lr"] < 0.1 * folder_of(engine).epochs()[0]["lr"]


def test_a_schedule_that_ends_with_the_run_counts_the_updates_that_are_made(build):
    """Where remainders are skipped, fairseq leaves out the last batch of an epoch, too."""
    totals = {}
    for skipped in (False, True):
        options = (f"fairseq.optimization.skip_remainder_batch={skipped}", "max_tokens=100", "max_epoch=3")
        engine = build("lr_schedule=linear", "update_freq=2", *options, name=f"run-{skipped:08d}")
        engine.train()
        totals[skipped] = engine.updates
        assert engine.trainer.lr_scheduler.total_updates == engine.updates
    assert totals[False] == totals[True] + 3


def test_a_validation_within_an_epoch_is_no_time_of_training(build, monkeypatch):
    now = [0.0]

    def takes(seconds, step):
        def timed(self, *arguments, **options):
            now[0] += seconds
            return step(self, *arguments, **options)

        return timed

    monkeypatch.setattr(training_trainer, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Trainer, "train_step", takes(1.0, Trainer.train_step))
    monkeypatch.setattr(Trainer, "valid_step", takes(100.0, Trainer.valid_step))
    engine = build("max_tokens=100", "fairseq.dataset.validate_interval_updates=2")
    engine.train()
    (record,) = folder_of(engine).epochs()
    assert record["seconds"] == record["update"] > 4


def test_a_signal_in_the_last_update_is_answered_when_its_epoch_is_saved(build):
    engine = build("max_update=3", "max_tokens=100")
    received = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: received.append(folder_of(engine).saved.epochs()))
    engine.trainer.before_update.append(lambda: engine.updates == 2 and os.kill(os.getpid(), signal.SIGUSR1))
    engine.train()
    signal.signal(signal.SIGUSR1, before)
    assert received == [[1]]
    assert [record["update"] for record in folder_of(engine).epochs()] == [3]
    assert folder_of(engine).saved.last_update_within() == 0


def test_recorded_losses_are_in_nats_and_the_rate_is_the_last_updates(build):
    engine = build("lr_max=1e-9", "lr_schedule=constant", "warmup_updates=1000000")
    engine.train()
    (record,) = folder_of(engine).epochs()
    vocabulary = len(engine.task.target_dictionary)
    assert record["valid_nll"] == pytest.approx(math.log(vocabulary), rel=0.25), "untrained: a guess over all words"
    assert record["lr"] == pytest.approx(1e-9 * record["update"] / 1e6)


def test_two_runs_in_one_process_do_not_meet(build):
    """fairseq keeps best scores and meters in the process; a sweep's worker trains many runs in one."""
    alone = build("seed=4")
    alone.train()
    first = folder_of(alone).epochs()[0]
    own_files.clear(folder_of(alone).path)
    folder_of(alone).checkpoints.mkdir()
    again = build("seed=4")
    again.train()
    assert without_times(folder_of(again).epochs()[0]) == without_times(first)


def test_all_of_valid_is_translated_when_it_is_due_and_has_names_of_its_own(build):
    engine = build("max_epoch=3", "evaluation.valid_sentences=5", "evaluation.whole_valid_every=2")
    engine.train()
    records = folder_of(engine).epochs()
    assert [record["n_sentences"] for record in records] == [5, 5, 5]
    assert [record.get("whole_n_sentences") for record in records] == [None, 20, 20]
    assert 0 <= records[1]["whole_valid_bleu"] <= 100


@pytest.mark.parametrize("kind", [SingleModel, ArrayModels])
def test_a_checkpoint_that_cannot_be_tested_is_followed_by_an_earlier_one(build, monkeypatch, kind):
    engine = build("max_epoch=3", "checkpoints.keep=all", "evaluation.average_last=2", kind=kind)
    engine.train()
    engine.diverged[0] = "validation loss is nan", engine.updates
    test, tried = engine.evaluation.test, []

    def only_the_third(models, name, members):
        tried.append(name)
        return test(models, name, members) if len(tried) == 3 else {}

    monkeypatch.setattr(engine.evaluation, "test", only_the_third)
    (end,) = engine.test()
    assert tried == ["test", "test", "test"], "of epochs 3, 2 and 1"
    assert end["checkpoint_epoch"] == 1
    assert "averaged_epochs" not in end, "a diverged run has no average"


@pytest.mark.parametrize("kind", [SingleModel, ArrayModels])
def test_an_average_that_does_not_decode_costs_nothing_else(build, monkeypatch, kind):
    engine = build("max_epoch=2", "evaluation.average_last=2", kind=kind)
    engine.train()
    test = engine.evaluation.test
    monkeypatch.setattr(
        engine.evaluation,
        "test",
        lambda models, name, members: {} if name == "test.averaged" else test(models, name, members),
    )
    (end,) = engine.test()
    assert end["checkpoint_epoch"] in (1, 2)
    assert "averaged_epochs" not in end


@pytest.mark.parametrize("kind", [SingleModel, ArrayModels])
def test_scores_that_are_not_finite_are_divergence(build, monkeypatch, kind):
    engine = build("max_epoch=2", kind=kind)
    monkeypatch.setattr(engine.evaluation, "validate", lambda models, epoch, members: {})
    engine.train()
    assert engine.diverged == {0: (engine.evaluation.failure, engine.updates)}
    assert folder_of(engine).epochs() == []
    assert engine.test() == [{"kind": "end", "checkpoint_epoch": None, "test_bleu": None, "test_bleu_tokenised": None}]


def test_an_optimizer_that_works_matrix_by_matrix_is_refused_where_fp16_has_a_flat_vector(build, monkeypatch):
    vector = torch.nn.Parameter(torch.zeros(3))  # fairseq makes it on a GPU alone
    monkeypatch.setattr(FP16Optimizer, "build_fp32_params", lambda *_, **__: vector)
    engine = build("precision=fp16")
    adafactor = {"_name": "adafactor", "lr": [1e-3], "adafactor_eps": "(1e-30, 1e-3)", "beta1": None}
    adafactor |= {"clip_threshold": 1.0, "decay_rate": -0.8, "weight_decay": 0.0, "warmup_init": False}
    engine.fairseq.optimizer = adafactor | {"scale_parameter": False, "relative_step": False}
    with pytest.raises(UserError, match=r"optimizer\._name=adafactor: works matrix by matrix, in fp16 with"):
        engine.train()


def test_a_run_that_is_stopped_within_its_first_epoch_has_a_checkpoint_to_test(build):
    engine = build("fairseq.optimization.stop_time_hours=1e-9", "max_tokens=100")
    engine.train()
    assert folder_of(engine).epochs() == [], "no epoch is over"
    assert folder_of(engine).saved.epochs() == [1]
    (end,) = engine.test()
    assert end["checkpoint_epoch"] == 1


def test_a_loss_without_smoothing_is_the_nll(build):
    engine = build()
    meters = {name: SimpleNamespace(avg=value) for name, value in (("loss", 2.0), ("gnorm", 3.0))}
    assert engine.models.losses(meters, meters) == [Losses(2.0, 2.0, 2.0, 3.0)]
