"""Configs as plain values."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.plain import drop, find, nested


@settings(max_examples=60, derandomize=True)
@given(st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("cd")), st.integers()))
def test_nested_settings_are_found_by_their_names_and_nowhere_else(values):
    named = {".".join(path): value for path, value in values.items()}
    tree = nested(named)
    for name, value in named.items():
        assert find(tree, name) == value
        drop(tree, name)
    assert all(inner == {} for inner in tree.values())
