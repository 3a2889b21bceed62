"""Content is read in the form that it is written in, or refused with the place of what is wrong."""

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from lnexp.schema import Count, Positive, Time, checked, load_json


class Part(TypedDict):
    name: str
    number: NotRequired[Count]


@dataclass
class Whole:
    title: str
    parts: list[Part]
    size: Positive | None = None
    kind: Literal["one", "two"] = "one"
    rest: dict[str, Any] = field(default_factory=dict)


def test_content_of_the_form_is_returned_and_what_is_missing_has_its_default():
    content = {"title": "x", "parts": [{"name": "a", "number": 0, "more": []}], "size": 2}
    assert checked(Whole, content, "it") == Whole("x", content["parts"], 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"title": 1}, "title is int"),
        ({"parts": {}}, "parts is dict"),
        ({"parts": ["x"]}, "parts is str"),
        ({"parts": [{}]}, "parts does not have name"),
        ({"parts": [{"name": "a", "number": -1}]}, "number: is below 0"),
        ({"parts": [{"name": "a", "number": True}]}, "number is bool"),
        ({"size": 0}, "size: is below 1"),
        ({"size": 1.5}, "size is float"),
        ({"kind": "three"}, "kind is not one of one, two"),
        ({"more": 1}, "it: more: no such key; did you mean"),
    ],
)
def test_another_form_is_refused_by_its_place(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        checked(Whole, {"title": "x", "parts": []} | changed, "it")


def test_a_time_has_its_zone():
    assert checked(Time, "2026-01-01T00:00:00+00:00", "started")
    for wrong, message in (("2026-01-01T00:00:00", "has no time zone"), ("yesterday", "started: ")):
        with pytest.raises(ValueError, match=message):
            checked(Time, wrong, "started")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e400", "not finite"),
        ("[Infinity]", "Infinity is not a number"),
        ('{"a": NaN}', "NaN is not a number"),
        ("9" * 5000, "digits"),
        ("1" + "0" * 400, "digits"),
        ("[" * 50_000 + "]" * 50_000, "nested too deep"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deep"),
        ("[" * 200 + "]" * 200, "nested too deep"),
        ("{", "Expecting"),
        ('[{"a": {"b": 1, "c": 2, "b": 3}}]', "the key 'b' twice"),
    ],
)
def test_json_that_nobody_can_use_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        load_json(text)


def test_texts_in_it_can_be_printed_and_written():
    text = r'{"a\u001b[2J": ["x\ud800", "ä\n\té", "\u009b1m"]}'
    assert load_json(text) == {r"a\x1b[2J": [r"x\ud800", "ä\n\té", r"\x9b1m"]}
    text = r'["gpj\u202e.exe", "a\u200bb", "\ufeff", "\u2028", "\u2067", "\udb40\udc41", "ü \u4e2d"]'
    assert load_json(text) == [
        r"gpj\u202e.exe", r"a\u200bb", r"\ufeff", r"\u2028", r"\u2067", r"\U000e0041", "ü 中"
    ]  # fmt: skip
