"""Seeds in words."""

import pytest

from lnexp.seeds import seeds_in_words


@pytest.mark.parametrize(
    ("seeds", "words"), [([21, 22, 23], "21 to 23"), ([1, 3], "1, 3"), ([7], "7"), ([22, 21, 21], "21 to 22"), ([], "")]
)
def test_a_range_is_named_by_its_ends(seeds, words):
    assert seeds_in_words(seeds) == words
