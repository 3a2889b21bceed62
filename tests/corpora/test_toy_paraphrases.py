"""Paraphrases of ``data=bert_toy`` are what they are labelled as."""

from collections import Counter
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.corpora.toy_paraphrases import KINDS, paraphrases

SIZE = "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 10}"


def words(tokens):
    return Counter(token for token in tokens if token != ",")


@settings(max_examples=15, derandomize=True)
@given(st.integers(0, 2**32))
def test_labels_are_true(seed):
    for label, one, other in islice(paraphrases(seed), 40):
        left, right = words(one) - words(other), words(other) - words(one)
        assert one != other
        if label:
            assert not left
            assert not right
        else:
            assert (left.total(), right.total()) == (1, 1), "one word differs"
            assert any(next(iter(left)) in kind and next(iter(right)) in kind for kind in KINDS)


def test_all_content_words_of_a_pair_that_is_none_may_be_others():
    content = {word for kind in KINDS for word in kind}
    for label, one, other in islice(paraphrases(5, None), 60):
        same = (words(one) & words(other)).keys() & content
        assert label or len(same) <= 2, "words of several kinds may be drawn again at another place"
    few = [words(one) - words(other) for label, one, other in islice(paraphrases(5, 2), 60) if not label]
    assert {found.total() for found in few} <= {1, 2}


def test_both_labels_are_equally_many():
    assert Counter(label for label, _, _ in islice(paraphrases(3), 200)) == {0: 100, 1: 100}


def test_the_corpus_has_one_language_and_disjoint_splits(tmp_path):
    cfg = compose(["task=masked_lm", "data=bert_toy", SIZE])
    corpus = prepare(cfg.data, tmp_path)
    assert (corpus.bin / "train.en.en.idx").is_file()
    assert corpus.manifest["pairs"] == {"train": 60, "valid": 10, "test": 10}
    assert not set(corpus.lines("train", "en")) & set(corpus.lines("test", "en"))
