"""What classifiers read from hidden states: all that is there, and nothing that is not."""

import numpy as np
import pytest
import torch
from torch import nn

from lnexp.theory.linear_probe import Words, accuracy, most_frequent, words_of

SYMBOLS = ["<s>", "<pad>", "</s>", "<unk>", "dog", "sees", "cat", "to"]
CLASSES = {"dog": "noun", "cat": "noun", "sees": "verb"}


def words(classes, states):
    return Words([states], {"word_class": np.array(classes)})


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_what_is_in_one_direction_is_read_whatever_its_size(scale):
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 3, size=600)
    states = scale * (draw.normal(size=(600, 8)) + 20 * np.eye(8)[truth])
    fit, judge = words(truth[:400], states[:400]), words(truth[400:], states[400:])
    assert accuracy(fit, judge, "word_class", 0) == 1


def test_from_states_that_are_all_alike_the_most_frequent_class_is_read():
    truth = np.array(["noun"] * 60 + ["verb"] * 40)
    fit = judge = words(truth, np.ones((100, 8)))
    assert accuracy(fit, judge, "word_class", 0) == most_frequent(fit, judge, "word_class") == 0.6


class Side(nn.Module):
    """Embeds tokens by their number; each layer adds one."""

    padding_idx = 1

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(AddsOne() for _ in range(2))

    def forward(self, tokens):
        x = tokens.t().unsqueeze(-1).float().expand(-1, -1, 4)
        for layer in self.layers:
            x = layer(x)


class AddsOne(nn.Module):
    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Side(), Side()

    def forward(self, src_tokens, prev_output_tokens):
        self.encoder(src_tokens)
        self.decoder(prev_output_tokens)


def test_words_have_their_class_their_position_and_their_states():
    source = torch.tensor([[1, 4, 5, 6, 2], [4, 7, 5, 3, 2]])  # padding in front, a word of two classes, an unknown one
    target = torch.tensor([[2, 4, 5], [2, 6, 1]])
    batch = {"net_input": {"src_tokens": source, "prev_output_tokens": target}}
    found = words_of(Model(), "encoder", [batch], SYMBOLS, CLASSES)
    by_word = sorted(zip(found.states[0][:, 0], found.truth["position"], found.truth["word_class"], strict=True))
    assert by_word == [(4, 1, "noun"), (4, 1, "noun"), (5, 2, "verb"), (5, 3, "verb"), (6, 3, "noun")]
    assert [states[0, 0] - found.states[0][0, 0] for states in found.states] == [0, 1, 2]
    assert sorted(words_of(Model(), "decoder", [batch] * 2, SYMBOLS, CLASSES).truth["position"]) == [2, 2, 2, 2, 3, 3]
