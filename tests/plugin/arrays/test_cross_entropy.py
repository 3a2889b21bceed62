"""The losses and gradients are those of fairseq's label-smoothed cross-entropy."""

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from lnexp.plugin.arrays.cross_entropy import cross_entropy, smooth_cross_entropy

PAD = 1


@settings(max_examples=30)
@given(
    st.integers(1, 4),
    st.lists(st.integers(0, 6), min_size=1, max_size=12),
    st.floats(0, 0.9),
    st.integers(0, 10_000),
)
def test_equals_fairseq_for_each_member(members, target, smoothing, seed):
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(members, len(target), 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(members, 7, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    tokens = torch.tensor(target)

    losses, nlls = cross_entropy(hidden, weight, tokens, smoothing, PAD)
    factors = torch.arange(1.0, members + 1)  # a gradient of its own for each member
    mine = torch.autograd.grad((losses * factors).sum(), (hidden, weight))

    expected = [
        label_smoothed_nll_loss((x @ w.t()).log_softmax(dim=1), tokens, smoothing, ignore_index=PAD)
        for x, w in zip(hidden, weight, strict=True)
    ]
    theirs = torch.autograd.grad(
        sum(f * loss for f, (loss, _) in zip(factors, expected, strict=True)), (hidden, weight)
    )
    torch.testing.assert_close(losses, torch.stack([loss for loss, _ in expected]))
    torch.testing.assert_close(smooth_cross_entropy(hidden, weight, tokens, smoothing, PAD), losses)
    torch.testing.assert_close(nlls, torch.stack([nll for _, nll in expected]))
    for gradient, right in zip(mine, theirs, strict=True):
        torch.testing.assert_close(gradient, right)


@pytest.mark.parametrize(("trains", "products"), [(True, 3), (False, 1)])
def test_gradients_are_made_for_training_alone(trains, products):
    hidden, weight = torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 9, 4, requires_grad=True)
    with torch.set_grad_enabled(trains), FlopCounterMode(display=False) as counter:
        cross_entropy(hidden, weight, torch.tensor([2, 3, 4]), 0.1, PAD)
    assert counter.get_total_flops() == products * 2 * (2 * 3 * 4 * 9)


def test_losses_are_never_half():
    hidden = torch.randn(1, 3, 4, dtype=torch.bfloat16)
    losses, _ = cross_entropy(hidden, torch.randn(1, 9, 4), torch.tensor([2, 3, 4]), 0.1, PAD)
    assert losses.dtype == torch.float32


def test_a_member_that_is_not_finite_leaves_the_others_alone():
    hidden, weight = torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 9, 4, requires_grad=True)
    tokens = torch.tensor([2, 3, 4])
    (clean,) = torch.autograd.grad(cross_entropy(hidden, weight, tokens, 0.1, PAD)[0].sum(), hidden)
    broken = hidden.detach().clone().requires_grad_()
    with torch.no_grad():
        broken[0] = torch.inf
    losses, _ = cross_entropy(broken, weight, tokens, 0.1, PAD)
    (gradient,) = torch.autograd.grad(losses.sum(), broken)
    assert not losses[0].isfinite()
    assert torch.equal(gradient[1], clean[1])
