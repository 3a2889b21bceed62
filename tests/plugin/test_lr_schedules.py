"""Each schedule against its closed form, and fairseq's where it has one."""

import math

import pytest
import torch
from fairseq.optim import build_optimizer
from fairseq.optim.lr_scheduler import build_lr_scheduler
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401

LR_MAX = 3e-3


def make_optimizer():
    cfg = OmegaConf.create({"_name": "lnexp_sgd", "lr": [LR_MAX]})
    return build_optimizer(cfg, [torch.nn.Parameter(torch.zeros(1))])


def schedule(name: str, warmup: int, **options):
    cfg = OmegaConf.create({"_name": f"lnexp_{name}", "lr": [LR_MAX], "warmup_updates": warmup, **options})
    return build_lr_scheduler(cfg, make_optimizer())


def rates(scheduler, updates: int, updates_an_epoch: int = 10) -> list[float]:
    """The rate each of the first updates is made with, driven as fairseq's trainer drives a scheduler."""
    scheduler.step_update(0)
    used = []
    for made in range(updates):
        if made % updates_an_epoch == 0:
            scheduler.step_begin_epoch(made // updates_an_epoch + 1)
            scheduler.step_update(made)
        used.append(scheduler.optimizer.get_lr())
        scheduler.step_update(made + 1)
    return used


WARMUPS = [1, 7, 50]


@pytest.mark.parametrize("warmup", WARMUPS)
def test_constant(warmup):
    expected = [LR_MAX * min(t / warmup, 1) for t in range(1, 101)]
    assert rates(schedule("constant", warmup), 100) == pytest.approx(expected)


@pytest.mark.parametrize("warmup", WARMUPS)
def test_inverse_sqrt_decoupled(warmup):
    decay_from = 30
    expected = [LR_MAX * min(t / warmup, 1) * math.sqrt(decay_from / max(t, decay_from)) for t in range(1, 101)]
    assert rates(schedule("inverse_sqrt", warmup, form="decoupled", decay_from=decay_from), 100) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("warmup", WARMUPS)
def test_inverse_sqrt_coupled(warmup):
    expected = [LR_MAX * min(t / warmup, math.sqrt(warmup / t)) for t in range(1, 101)]
    assert rates(schedule("inverse_sqrt", warmup, form="coupled"), 100) == pytest.approx(expected)


def test_both_forms_are_one_where_the_warmup_ends_as_the_decay_begins():
    coupled, decoupled = (schedule("inverse_sqrt", 30, form=form, decay_from=30) for form in ("coupled", "decoupled"))
    assert rates(coupled, 100) == rates(decoupled, 100)


@pytest.mark.parametrize("warmup", WARMUPS)
def test_coupled_is_fairseqs_own_one_update_earlier(warmup):
    theirs = build_lr_scheduler(
        OmegaConf.create({"_name": "inverse_sqrt", "lr": [LR_MAX], "warmup_updates": warmup, "warmup_init_lr": -1}),
        make_optimizer(),
    )
    mine = schedule("inverse_sqrt", warmup, form="coupled")
    assert [mine.lr_at(t) for t in range(1, 101)] == pytest.approx([theirs.step_update(t) for t in range(1, 101)])


@pytest.mark.parametrize("warmup", WARMUPS)
def test_linear(warmup):
    total = 80
    expected = [LR_MAX * min(t / warmup, 1, max(0, (total - t) / (total - warmup))) for t in range(1, 101)]
    assert rates(schedule("linear", warmup, total_updates=total), 100) == pytest.approx(expected)


@pytest.mark.parametrize("then", ["constant", "inverse_sqrt"])
@pytest.mark.parametrize("warmup", WARMUPS)
def test_step_drops_once(warmup, then):
    first = 31  # epochs of ten updates: the fourth begins with update 31

    def closed_form(t: int) -> float:
        warm = LR_MAX * min(t / warmup, 1)
        if t < first:
            return warm
        return warm * 0.1 * (math.sqrt(first / t) if then == "inverse_sqrt" else 1)

    used = rates(schedule("step", warmup, decay_epoch=4, factor=0.1, then=then), 100)
    assert used == pytest.approx([closed_form(t) for t in range(1, 101)])


def test_step_remembers_its_drop_over_a_resume():
    options = {"decay_epoch": 4, "factor": 0.1, "then": "inverse_sqrt"}
    undisturbed = rates(schedule("step", 1, **options), 80)
    before = schedule("step", 1, **options)
    rates(before, 50)
    after = schedule("step", 1, **options)
    after.load_state_dict(before.state_dict())
    after.step_begin_epoch(6)
    after.step_update(50)
    assert after.optimizer.get_lr() == pytest.approx(undisturbed[50])


@pytest.mark.parametrize("name", ["constant", "inverse_sqrt", "linear", "step"])
@pytest.mark.parametrize("warmup", [0, -1])
def test_warmup_below_one_is_refused_with_a_reason(name, warmup):
    options = {"total_updates": 100} if name == "linear" else {}
    with pytest.raises(ValueError, match=f"warmup_updates={warmup}: must be at least 1, and 1 means no warm-up"):
        schedule(name, warmup, **options)


@pytest.mark.parametrize("name", ["constant", "inverse_sqrt", "linear", "step"])
def test_warmup_one_starts_at_the_full_rate(name):
    options = {"total_updates": 100} if name == "linear" else {}
    assert rates(schedule(name, 1, **options), 1) == pytest.approx([LR_MAX])


@pytest.mark.parametrize("total", [None, 10, 50])
def test_linear_needs_room_after_warmup(total):
    with pytest.raises(ValueError, match="total_updates"):
        schedule("linear", 50, total_updates=total)


@given(
    warmup=st.integers(1, 500),
    decay_from=st.integers(1, 500),
    form=st.sampled_from(["coupled", "decoupled"]),
    update=st.integers(1, 10_000),
)
def test_inverse_sqrt_never_leaves_zero_to_lr_max(warmup, decay_from, form, update):
    mine = schedule("inverse_sqrt", warmup, form=form, decay_from=decay_from)
    assert 0 < mine.lr_at(update) <= LR_MAX * (1 + 1e-12)
