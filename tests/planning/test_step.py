"""What a batch costs: what a few examples say of it, against the whole of it."""

import pytest
import torch
from helpers import TINY
from omegaconf import OmegaConf

import lnexp.planning.step as step
from lnexp.benchmarks.activation_memory import FREE_AT_ONCE, SETTINGS
from lnexp.benchmarks.own_process import run_in_own_process
from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.planning.arms import lines
from lnexp.planning.live_memory import LiveMemory
from lnexp.tasks.translation.planning import PairsBatch, work_of

pytestmark = pytest.mark.slow

BATCH = PairsBatch(examples=80, source=20, target=17, source_words=900, target_words=1000)


def config(*overrides: str):
    cfg = compose([*TINY, *overrides])
    OmegaConf.resolve(cfg)
    return cfg


@pytest.mark.parametrize("overrides", [(), ("precision=bf16",), ("model=peri_ln", "optimizer=sgd", "norm=rms_norm")])
def test_a_few_examples_say_what_all_of_a_batch_takes(overrides):
    cfg = config(*overrides)
    found = step.parts(cfg, BATCH).step(1)
    trainer = step._trainer(cfg, BATCH)
    batch = BATCH.draw(trainer.task, BATCH.examples)
    trainer.train_step([batch])
    trainer.zero_grad()
    with LiveMemory() as live:
        step._pass(trainer, batch)
    assert found.memory - found.resting == pytest.approx(live.peak, rel=0.01)
    assert found.traffic == pytest.approx(live.traffic, rel=0.02)
    assert found.parameters == sum(parameter.numel() for parameter in trainer.get_model().parameters())
    assert found.gradient_bytes == found.parameters * (2 if "precision=bf16" in overrides else 4)


def test_gradients_that_an_optimizer_keeps_on_a_cpu_are_there_while_it_rests():
    found = step.parts(config(), BATCH)
    here, elsewhere = found.step(1), found.step(1, elsewhere=True)
    assert here.resting - elsewhere.resting == here.gradient_bytes
    assert here.memory - elsewhere.memory == here.gradient_bytes
    in_bf16 = step.parts(config("precision=bf16"), BATCH)
    assert in_bf16.step(1) == in_bf16.step(1, elsewhere=True)


def test_a_deep_model_is_scaled_from_shallow_ones():
    """Every layer takes the same; the whole is measured for comparison."""
    cfg = config("model.encoder_layers=8", "model.decoder_layers=8", "precision=bf16")
    found, scaled = step.shallow_or_whole(cfg, BATCH)
    whole = step.parts(cfg, BATCH)
    assert scaled
    for name in found._fields:
        if name != "seconds":
            assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=0.02), name
    assert found.parameters == whole.parameters
    assert cfg.model.encoder_layers == 8


def test_fp16_is_planned_where_there_is_no_gpu():
    """For a GPU that has no bf16; where it would be trained here, it is refused."""
    half, bf16 = (step.parts(config(f"precision={name}", "device=cpu"), BATCH).step(1) for name in ("fp16", "bf16"))
    assert (half.memory, half.gradient_bytes, half.flops) == (bf16.memory, bf16.gradient_bytes, bf16.flops)
    with pytest.raises(UserError, match="precision=fp16: needs a GPU"):
        lines([*TINY, "precision=fp16"], "cpu", 1, None)


def test_a_model_of_few_layers_is_measured_whole():
    assert not step.shallow_or_whole(config(), BATCH)[1]
    assert not step.shallow_or_whole(config("model.encoder_layers=8"), BATCH)[1], "sides that differ"


def test_earlier_batches_of_an_update_leave_their_gradients():
    found = step.parts(config(), BATCH)
    once, twice = (found.step(count, elsewhere=True) for count in (1, 2))
    assert twice.memory - once.memory == once.gradient_bytes
    assert found.step(2).memory == found.step(1).memory == twice.memory, "on a CPU they are kept in any case"


def test_arithmetic_is_that_of_the_matrices():
    """6 floating point operations a weight and token, for the weights that a token goes through."""
    cfg = config("model.encoder_layers=6", "model.decoder_layers=6", "model.encoder_ffn_embed_dim=512")
    found = step.parts(cfg, BATCH).step(1)
    encoder = 6 * (4 * 32 * 32 + 2 * 32 * 512)
    decoder = 6 * (6 * 32 * 32 + 2 * 32 * 32) + 32 * BATCH.target_words
    over_sources = 6 * 2 * 32 * 32  # keys and values of the source
    tokens = BATCH.examples * BATCH.target, BATCH.examples * BATCH.source
    assert found.flops == pytest.approx(6 * (tokens[0] * decoder + tokens[1] * (encoder + over_sources)), rel=0.1)


def test_memory_is_that_of_real_runs(prepared, warm_interpreter):
    """As the operating system counts it, to a tenth: what a run with large batches takes beyond one with small ones.

    Of a single run it counts some 80 MiB more, which Python and torch take for themselves in the first update.
    """
    real, said = [], []
    for tokens in (1024, 12288):
        overrides = [f"max_tokens={tokens}", f"data_dir={prepared}"]
        grown = run_in_own_process("lnexp.benchmarks.activation_memory", "6", "false", *overrides, env=FREE_AT_ONCE)[
            "memory"
        ]
        real.append(grown * 2**30)
        cfg = compose([*SETTINGS, *overrides])
        OmegaConf.resolve(cfg)
        said.append(step.parts(cfg, work_of(cfg).largest).step(1).memory)
    assert said[1] - said[0] == pytest.approx(real[1] - real[0], rel=0.1)


def test_a_checkpoint_is_as_large_as_said(checkpoint):
    cfg = config()
    words = torch.load(checkpoint)["model"]["decoder.embed_tokens.weight"].shape[0]
    sources = torch.load(checkpoint)["model"]["encoder.embed_tokens.weight"].shape[0]
    found = step.parts(cfg, PairsBatch(8, 9, 10, sources, words))
    assert found.checkpoint == pytest.approx(checkpoint.stat().st_size, rel=0.25), "names and settings of a tiny model"
