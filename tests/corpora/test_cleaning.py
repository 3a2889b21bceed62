"""Malformed lines are found, and pairs are filtered by Moses' rules."""

import pytest

from lnexp.corpora.cleaning import PairFilter, decode, flaw


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ein Satz\tmit Tabulator", None),
        ("Zeichen aus dem C1-Bereich, wie es sie in IWSLT14 gibt: \x9a", None),
        ("", "empty line"),
        (" \u3000", "empty line"),
        ("a\x07b", "control character U+0007"),
        ("a\rb", "control character U+000D"),
        ("a\u200fb", "bidirectional mark U+200F"),
        ("a\ufeffb", "bidirectional mark U+FEFF"),
        ("a" * 100_000, "100,000 characters in a line"),
    ],
)
def test_flaws(line, reason):
    assert flaw(line) == reason


def test_what_windows_puts_into_a_line_is_taken_away():
    assert decode("\ufeffja\r".encode()) == "ja"
    with pytest.raises(UnicodeDecodeError):
        decode(b"n\xe4")


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("a b", "c d e", None),  # 1.5 is allowed
        ("a b", "c d e f", "ratio above 1.5"),
        ("a b c d", "e f", "ratio above 1.5"),
        ("", "a", "fewer than 1 tokens"),
        ("a " * 175, "a " * 175, None),
        ("a " * 176, "a " * 175, "more than 175 tokens"),
        ("a" * 1000, "a", None),
        ("a" * 1001, "a", "a word of more than 1,000 characters"),
    ],
)
def test_pairs_are_filtered_as_moses_does(source, target, reason):
    assert PairFilter().reason(source, target) == reason
