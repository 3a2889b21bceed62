"""Each leaf gives every member what its own module would give it."""

import copy

import pytest
import torch
from torch import nn

import lnexp.plugin  # noqa: F401  (registers the forms)
from lnexp.plugin.attention import Attention
from lnexp.plugin.stacking import stack

TIME, ROWS, CHANNELS, MEMBERS = 5, 3, 8, 4


def in_memory_as_in_a_model(*shape: int) -> torch.Tensor:
    """``(time, rows, channel)``, with the time behind the rows in memory."""
    time, rows, channels = shape
    return torch.randn(rows, time, channels, dtype=torch.float64).transpose(0, 1)


def members_of(build) -> list[nn.ModuleDict]:
    torch.manual_seed(1)
    members = [nn.ModuleDict({"leaf": build()}).double() for _ in range(MEMBERS)]
    for member in members:
        for parameter in member.parameters():
            nn.init.normal_(parameter)
    return members


@pytest.mark.parametrize(
    "build",
    [lambda: nn.Linear(CHANNELS, 6), lambda: nn.Linear(CHANNELS, 6, bias=False), lambda: nn.LayerNorm(CHANNELS)],
    ids=["linear", "without bias", "layer norm"],
)
def test_leaves_of_hidden_states(build):
    members = members_of(build)
    array = stack(copy.deepcopy(members))
    xs = [in_memory_as_in_a_model(TIME, ROWS, CHANNELS) for _ in range(MEMBERS)]
    y = array["leaf"](torch.cat(xs, dim=1))
    for number, (member, x) in enumerate(zip(members, xs, strict=True)):
        torch.testing.assert_close(y[:, number * ROWS : (number + 1) * ROWS], member["leaf"](x))


def test_embeddings():
    members = members_of(lambda: nn.Embedding(10, CHANNELS, padding_idx=1))
    array = stack(copy.deepcopy(members))
    tokens = torch.randint(10, (ROWS, TIME))
    y = array["leaf"](tokens.repeat(MEMBERS, 1)).view(MEMBERS, ROWS, TIME, CHANNELS)
    for member, mine in zip(members, y, strict=True):
        assert torch.equal(mine, member["leaf"](tokens))


@pytest.mark.parametrize("padded", [False, True])
def test_attention_to_a_padded_source(padded):
    members = members_of(lambda: Attention(CHANNELS, 2, encoder_decoder_attention=True))
    array = stack(copy.deepcopy(members))
    mask = torch.zeros(ROWS, TIME, dtype=torch.bool)
    mask[0, -2:] = padded
    queries = [in_memory_as_in_a_model(TIME + 1, ROWS, CHANNELS) for _ in range(MEMBERS)]
    keys = [in_memory_as_in_a_model(TIME, ROWS, CHANNELS) for _ in range(MEMBERS)]
    source = torch.cat(keys, dim=1)
    y, _ = array["leaf"](torch.cat(queries, dim=1), source, source, key_padding_mask=mask.repeat(MEMBERS, 1))
    for number, (member, query, key) in enumerate(zip(members, queries, keys, strict=True)):
        expected, _ = member["leaf"](query, key, key, key_padding_mask=mask, need_weights=False)
        torch.testing.assert_close(y[:, number * ROWS : (number + 1) * ROWS], expected)


def test_attention_sees_no_future():
    (member,) = members_of(lambda: Attention(CHANNELS, 2, self_attention=True))[:1]
    array = stack([copy.deepcopy(member)])
    x = in_memory_as_in_a_model(TIME, ROWS, CHANNELS)
    future = torch.triu(torch.full((TIME, TIME), -torch.inf, dtype=torch.float64), 1)
    expected, _ = member["leaf"](x, x, x, attn_mask=future, need_weights=False)
    y, _ = array["leaf"](x, x, x, attn_mask=future)
    torch.testing.assert_close(y, expected)


def test_names_order_and_ties_stay():
    def build():
        model = nn.ModuleDict({"embed": nn.Embedding(10, CHANNELS), "norm": nn.LayerNorm(CHANNELS)})
        model["out"] = nn.Linear(CHANNELS, 10, bias=False)
        model["out"].weight = model["embed"].weight
        return model

    single = build()
    array = stack([build() for _ in range(MEMBERS)])
    assert [name for name, _ in array.named_parameters()] == [name for name, _ in single.named_parameters()]
    assert array["out"].weight is array["embed"].weight
    assert {name: tensor.shape[1:] for name, tensor in array.state_dict().items()} == {
        name: tensor.shape for name, tensor in single.state_dict().items()
    }


def test_a_module_that_has_no_stacked_form_is_named():
    with pytest.raises(ValueError, match="Bilinear has parameters and no form for arrays"):
        stack([nn.ModuleDict({"leaf": nn.Bilinear(2, 2, 2)})])
