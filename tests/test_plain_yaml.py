"""YAML that someone else may have written fills no memory."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lnexp.plain_yaml import load_yaml

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{here}: &{here} [{','.join([f'*{before}'] * 9)}]\n" for before, here in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_a_bomb_of_aliases_is_refused():
    assert len(BOMB) < 400
    with pytest.raises(yaml.YAMLError, match="alias"):
        load_yaml(BOMB)


def test_what_is_called_a_mapping_and_is_none_is_refused():
    with pytest.raises(yaml.YAMLError, match="expected a mapping node"):
        load_yaml("a: !!map [x]")


def test_an_ampersand_in_text_is_text():
    assert load_yaml("title: Zhang & Sennrich\nkey: &name 1\n") == {"title": "Zhang & Sennrich", "key": 1}


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "{a: " * 50_000, "- " * 50_000 + "x", "? " * 50_000 + "x", "a: " + "[" * 200 + "]" * 200]
)
def test_values_nested_too_deep_do_not_end_the_process(text):
    with pytest.raises(yaml.YAMLError, match="nested too deep"):
        load_yaml(text)


def test_many_values_side_by_side_are_not_deep():
    assert load_yaml("[" + "[1], " * 500 + "[1]]") == [[1]] * 501


def test_text_that_is_too_long_is_not_parsed(monkeypatch):
    monkeypatch.setattr("lnexp.plain_yaml.LONGEST", 10)
    with pytest.raises(yaml.YAMLError, match="11 characters are too many"):
        load_yaml("a: 12345678")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text("ab&*{}: "), st.lists, max_leaves=8))
def test_what_was_written_is_read(content):
    assert load_yaml(yaml.safe_dump({"content": content})) == {"content": content}


@pytest.mark.parametrize("text", ["a: {b: 1, c: 2, b: 3}", "b: 1\n'b': 1\n", "- ? b\n  : 1\n  b: 2\n"])
def test_a_key_that_is_there_twice_is_refused(text):
    with pytest.raises(yaml.YAMLError, match="the key 'b' twice"):
        load_yaml(text)
