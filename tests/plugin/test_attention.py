"""Attention to short sequences is fairseq's attention, in its outputs, its gradients and what it hides."""

import pytest
import torch
from fairseq.modules import MultiheadAttention

import lnexp.plugin  # noqa: F401
from lnexp.plugin.attention import FULL, SHORT, Attention, is_short

ROWS, CHANNELS, HEADS = 3, 8, 2


def attention_and_fairseqs(dropout: float = 0.0) -> tuple[Attention, MultiheadAttention]:
    torch.manual_seed(1)
    ours = Attention(CHANNELS, HEADS, dropout=dropout, self_attention=True)
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter)
    stock = MultiheadAttention(CHANNELS, HEADS, dropout=dropout, self_attention=True)
    stock.load_state_dict(ours.state_dict())
    return ours.double(), stock.double()


def future(time: int) -> torch.Tensor:
    return torch.triu(torch.full((time, time), -torch.inf, dtype=torch.float64), 1)


def padding(time: int) -> torch.Tensor:
    mask = torch.zeros(ROWS, time, dtype=torch.bool)
    mask[0, -2:] = True
    return mask


@pytest.mark.parametrize("time", [5, FULL - 1, FULL, FULL + 1, SHORT, SHORT + 1])
@pytest.mark.parametrize("hides", ["nothing", "padding", "future", "both"])
def test_outputs_and_gradients_are_fairseqs(time, hides):
    options = {
        "key_padding_mask": padding(time) if hides in ("padding", "both") else None,
        "attn_mask": future(time) if hides in ("future", "both") else None,
        "need_weights": False,
    }
    x = torch.randn(time, ROWS, CHANNELS, dtype=torch.float64)
    found = []
    for module in attention_and_fairseqs():
        own = x.clone().requires_grad_()
        y, weights = module(own, own, own, **options)
        y.square().sum().backward()
        assert weights is None
        found.append([y, own.grad, *(parameter.grad for parameter in module.parameters())])
    for ours, stock in zip(*found, strict=True):
        torch.testing.assert_close(ours, stock)


def test_attends_from_fewer_positions_than_to():
    ours, stock = attention_and_fairseqs()
    for module in (ours, stock):
        module.self_attention, module.encoder_decoder_attention = False, True
    query = torch.randn(4, ROWS, CHANNELS, dtype=torch.float64)
    source = torch.randn(6, ROWS, CHANNELS, dtype=torch.float64)
    y, expected = (
        module(query, source, source, key_padding_mask=padding(6), need_weights=False)[0] for module in (ours, stock)
    )
    torch.testing.assert_close(y, expected)


def test_weights_are_fairseqs_where_they_are_asked_for():
    ours, stock = attention_and_fairseqs()
    x = torch.randn(5, ROWS, CHANNELS, dtype=torch.float64)
    torch.testing.assert_close(ours(x, x, x, need_weights=True)[1], stock(x, x, x, need_weights=True)[1])


def test_dropout_is_drawn_as_fairseq_draws_it():
    x, found = torch.randn(5, ROWS, CHANNELS, dtype=torch.float64), []
    for module in attention_and_fairseqs(dropout=0.5):
        torch.manual_seed(2)
        found.append(module(x, x, x, need_weights=False)[0])
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("query", "dropout", "short"),
    [
        (torch.zeros(SHORT, ROWS, CHANNELS), 0.0, True),
        (torch.zeros(SHORT + 1, ROWS, CHANNELS), 0.0, False),
        (torch.zeros(SHORT, ROWS, CHANNELS), 0.1, False),
        (torch.zeros(SHORT, ROWS, CHANNELS, dtype=torch.bfloat16), 0.0, False),
    ],
    ids=["short", "long", "with dropout", "bf16"],
)
def test_what_is_short(query, dropout, short):
    assert is_short(query, query, dropout) == short
