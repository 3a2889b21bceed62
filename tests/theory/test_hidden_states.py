"""Norms are recorded at the right places, and only within the ``with`` block."""

from contextlib import ExitStack

import pytest
import torch

from lnexp.errors import UserError
from lnexp.plugin.model import PLACEMENTS
from lnexp.theory.hidden_states import hidden_norms, places_of, squared_norm
from lnexp.theory.setting import Stack


def test_each_layers_last_sum_and_output_are_seen():
    torch.manual_seed(0)
    stack = Stack("post_ln", 3, 4)
    x = torch.randn(5, 2, 4, dtype=torch.float64)
    with hidden_norms(stack.layers, "before_norm") as before_norm, hidden_norms(stack.layers, "output") as output:
        y = stack(x)
    assert [tuple(norm.shape) for norm in before_norm + output] == [(5, 2)] * 6
    torch.testing.assert_close(output[-1], squared_norm(y))
    torch.testing.assert_close(output[0], torch.full((5, 2), 4.0, dtype=torch.float64), rtol=1e-3, atol=0)
    first = stack.layers[0]
    attended = first.self_attn_layer_norm(x + first.self_attn(x, x, x)[0])
    torch.testing.assert_close(before_norm[0], squared_norm(attended + first.fc2(first.fc1(attended).relu())))
    stack(2 * x)
    assert len(output) == 3, "nothing is recorded after the block"


def test_layers_that_were_not_gone_through_once_are_an_error():
    layers = (stack := Stack("post_ln", 3, 4)).layers
    x = torch.randn(5, 2, 4, dtype=torch.float64)
    with (
        pytest.raises(UserError, match=r"at=before_norm: recorded 0 times in one pass through 3 layers"),
        hidden_norms(layers, "before_norm"),
    ):
        pass
    with pytest.raises(UserError, match="recorded 6 times"), hidden_norms(layers, "output"):
        stack(stack(x))
    with pytest.raises(UserError, match="at=ouput: must be one of before_norm, output"), hidden_norms(layers, "ouput"):
        pass


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_placement_has_the_norms_of_one_pass(placement):
    """Pre-to-post passes a norm twice a layer, Admin sees a batch first, and Sub-LN has a norm in attention."""
    torch.manual_seed(0)
    stack = Stack(placement, 2, 4)
    x = torch.randn(5, 2, 4, dtype=torch.float64)
    stack.show_first_batch(x)
    with hidden_norms(stack.layers, "output") as output, ExitStack() as entered:
        before = [entered.enter_context(hidden_norms(stack.layers, at)) for at in places_of(stack.layers)]
        stack(x)
    assert all(len(norms) == 2 for norms in (output, *before))
    assert all(torch.isfinite(norm).all() for norms in before for norm in norms)


def test_a_norm_that_is_passed_twice_counts_as_the_last_one():
    stack = Stack("post_ln", 2, 4)
    x = torch.randn(5, 2, 4, dtype=torch.float64)
    first = stack.layers[0]
    first.register_forward_pre_hook(lambda layer, inputs: list(map(layer.final_layer_norm, [7 * x]))[1:] or None)
    with hidden_norms(stack.layers, "before_norm") as before:
        stack(x)
    assert not torch.allclose(before[0], squared_norm(7 * x))
    assert len(before) == 2
