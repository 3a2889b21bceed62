"""A pair is laid out as BERT's, and its accuracy stands beside that of the most frequent class of train."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary

from lnexp.tasks.sentence_pairs.evaluation import SentencePairsEvaluation
from lnexp.tasks.sentence_pairs.fairseq_task import LabelledPairs


class Sentences(list):
    """Sentences as fairseq's datasets have them."""

    @property
    def sizes(self):
        return torch.tensor([len(one) for one in self]).numpy()


def test_a_pair_begins_with_one_symbol_and_each_sentence_ends_with_another():
    words = Dictionary()
    first, second = Sentences([torch.tensor([10, 11, words.eos()])]), Sentences([torch.tensor([12, words.eos()])])
    pairs = LabelledPairs(first, second, [1], words)
    number, tokens, label = pairs[0]
    assert (number, label) == (0, 1)
    assert tokens.tolist() == [words.bos(), 10, 11, words.eos(), 12, words.eos()]
    assert pairs.sizes[0] == len(tokens)


@pytest.mark.parametrize(("train", "share"), [([1, 1, 0], 0.25), ([0, 0, 1], 0.75), ([1, 0], 0.75)])
def test_the_majority_is_that_of_train(train, share):
    """Not of the split that it is compared on; of two as frequent, the first."""
    splits = {"train": train, "valid": [0, 0, 0, 1]}
    evaluation = SentencePairsEvaluation.__new__(SentencePairsEvaluation)
    evaluation.task = SimpleNamespace(dataset=lambda split: SimpleNamespace(labels=splits[split]))
    assert evaluation._majority("valid") == share
