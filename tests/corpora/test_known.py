"""Parts of known corpora are recognised and named as parts."""

import pytest

from lnexp.corpora.known import KNOWN, differences, is_whole, recognise, train_pairs_in_words


@pytest.mark.parametrize(
    ("count", "part_of", "words"),
    [
        (51_777, "iwslt14", "51,777 of 160,239 training pairs"),
        (160_239, "iwslt14", "160,239 training pairs"),
        (31_392, "wmt14", "31,392 training pairs (all of WMT14 En-De: about 4.5 million)"),
        (3_000, None, "3,000 training pairs"),
    ],
)
def test_sizes_in_words(count, part_of, words):
    assert train_pairs_in_words(count, part_of) == words


def test_only_an_exact_number_is_the_whole():
    assert is_whole("iwslt14", 160_239)
    assert not is_whole("iwslt14", 160_238)
    assert not is_whole("wmt14", 4_500_000)


def test_a_corpus_is_recognised_by_what_is_tested_on():
    known = dict(KNOWN["iwslt14"].sha256)
    assert recognise(known | {"train.de": "any"}) == "iwslt14"
    assert recognise(known | {"test.de": "another"}) is None
    assert recognise({}) is None


def test_differences_are_named():
    known = KNOWN["iwslt14"]
    assert differences("iwslt14", known.pairs, known.sha256, part=False) == []
    fewer = {**known.pairs, "train": 51_777}
    assert differences("iwslt14", fewer, known.sha256, part=True) == []
    assert differences("iwslt14", fewer, known.sha256, part=False) == ["train has 51,777 pairs, not 160,239"]
    other = {**known.sha256, "test.en": "another"}
    assert differences("iwslt14", known.pairs, other, part=True) == ["test.en is not the known one"]
