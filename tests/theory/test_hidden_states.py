"""Norms are recorded at the right places, and only within the ``with`` block."""

import pytest
import torch

from lnexp.errors import UserError
from lnexp.theory.hidden_states import hidden_norms, squared_norm
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
