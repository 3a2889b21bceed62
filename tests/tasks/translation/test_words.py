"""What translation says of its own records."""

import pytest

from lnexp.tasks import load_task

TASK = load_task("translation")
END = {"checkpoint_epoch": 3, "test_bleu": 97.026, "test_bleu_tokenised": 96.9, "beam": 5, "n_sentences": 200}


def test_an_epoch_says_bleu_in_a_column():
    assert TASK.epoch_words({"valid_bleu": 7.25}) == "BLEU   7.2"


def test_the_end_says_how_it_was_tested():
    assert TASK.end_words(END) == "test BLEU 97.03 (96.90 tokenised; epoch 3, beam 5, 200 sentences)"
    assert TASK.end_words(TASK.no_scores()) == "no checkpoint to test"


@pytest.mark.parametrize(
    ("data", "words", "whole"),
    [
        ({"pairs": {"train": 3000}}, "3,000 training pairs", False),
        ({"pairs": {"train": 51_777}, "part_of": "iwslt14"}, "51,777 of 160,239 training pairs", False),
        ({"pairs": {"train": 160_239}, "part_of": "iwslt14"}, "160,239 training pairs", True),
    ],
)
def test_a_part_of_a_corpus_is_not_taken_for_the_whole(data, words, whole):
    assert TASK.size_in_words(data) == words
    assert TASK.is_whole("iwslt14", data) is whole


def test_signatures_are_named_once():
    assert TASK.score_note([{"bleu_signature": "b"}, {"bleu_signature": "a"}, {"bleu_signature": "b"}, {}]) == (
        "BLEU: `a`; `b`."
    )
    assert TASK.score_note([{}]) == "BLEU: none yet."
