"""Every word of the embedded corpus has the class that its grammar gives it."""

from itertools import islice

import pytest

from lnexp.corpora.toy import sentences
from lnexp.corpora.toy_word_classes import word_classes

#: Separable particle or preposition; in "next to" or before an infinitive.
OF_TWO_CLASSES = {"german": {"mit"}, "english": {"to"}}


@pytest.mark.parametrize(("side", "language"), [("german", "de"), ("english", "en")])
def test_every_word_of_many_sentences_has_a_class(side, language):
    words = {word for pair in islice(sentences(0), 3000) for word in getattr(pair, side)}
    assert words - word_classes(language).keys() == OF_TWO_CLASSES[side]


def test_classes_are_those_of_a_dictionary():
    german, english = word_classes("de"), word_classes("en")
    sentence = ["weil", "die", "kleinen", "Kinder", "den", "alten", "Tisch", "nicht", "abholen", "können", "."]
    assert [german[word] for word in sentence] == [
        "conjunction", "determiner", "adjective", "noun", "determiner", "adjective", "noun", "negation", "verb",
        "auxiliary", "punctuation",
    ]  # fmt: skip
    assert [english[word] for word in ["she", "did", "not", "see", "my", "apple", "tree", "today"]] == [
        "pronoun", "auxiliary", "negation", "verb", "determiner", "noun", "noun", "adverb",
    ]  # fmt: skip
    assert german["an"] == "particle"
    assert "mit" not in german
