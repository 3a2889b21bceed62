"""The combinations of several values."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.combinations import combinations
from lnexp.errors import UserError

VALUES = st.lists(st.integers(0, 99).map(str), min_size=1, max_size=3, unique=True)


@given(st.dictionaries(st.sampled_from(["seed", "lr_max", "warmup_updates", "model"]), VALUES))
def test_every_combination_is_there_once_with_what_varies(options):
    words = [f"{option}={','.join(values)}" for option, values in options.items()]
    several = {option for option, values in options.items() if len(values) > 1}
    expected = [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]
    found = combinations(words)
    assert [dict(word.split("=") for word in job) for job, _ in found] == expected
    assert all({word.split("=")[0] for word in varied} == several for _, varied in found)
    assert all(set(varied) <= set(job) for job, varied in found)


def test_a_list_is_one_value():
    assert combinations(["fairseq.x=[1,2]", "seed=1"]) == [(["fairseq.x=[1,2]", "seed=1"], [])]


def test_values_that_follow_from_what_files_there_are_are_refused():
    with pytest.raises(UserError, match=r"model=glob\(pre_\*\): name the values, as model=a,b"):
        combinations(["model=glob(pre_*)", "seed=1"])
