"""From which epoch many runs can go on together."""

from hypothesis import given
from hypothesis import strategies as st

from lnexp.runs.common_epoch import at_one_epoch

EPOCHS = st.sets(st.integers(1, 6)).map(sorted)


@given(st.lists(EPOCHS, max_size=8))
def test_everyone_is_in_one_group_that_has_an_epoch_in_common(kept):
    groups = at_one_epoch(kept)
    assert sorted(number for group in groups for number in group) == list(range(len(kept)))
    for group in groups:
        common = set.intersection(*(set(kept[number]) for number in group))
        assert max(common, default=0) >= max(max(kept[number], default=0) for number in group) - 1


def test_one_ahead_goes_back_to_the_checkpoint_that_it_kept():
    assert at_one_epoch([[2], [2, 3], [3], [], []]) == [[3, 4], [0, 1], [2]]


def test_one_ahead_by_its_first_epoch_begins_anew_with_the_others():
    assert at_one_epoch([[1], [], [2], [1, 2]]) == [[0, 1], [2, 3]]
    assert at_one_epoch([[1], [2], [1, 2]]) == [[0, 2], [1]]
