"""Runs made with different code, versions or machines are told apart."""

import pytest

from lnexp.results.evidence.made_with import all_said, differences, differing

HERE = {
    "git": {"commit": "c" * 40, "dirty": False},
    "packages": {"torch": "2.9.0"},
    "cpu": "a processor",
    "device": "cpu",
    "instructions": "AVX2",
    "numerics": 2,
}


def test_alike_is_no_difference():
    assert differing([HERE, dict(HERE)]) == []
    assert differences([HERE]) == differences([]) == ""


@pytest.mark.parametrize(
    ("name", "other", "said"),
    [
        ("commit", {"git": {"commit": "c" * 40, "dirty": True}}, "`cccccccccc`; `cccccccccc`*"),
        (
            "commit",
            {"git": {"commit": "c" * 40, "dirty": False, "earlier": ["b" * 40]}},
            "`bbbbbbbbbb`; `cccccccccc`",
        ),
        ("commit", {"git": {}}, "`cccccccccc`; unknown"),
        ("machine", {"device": "cuda"}, "a processor, cpu; a processor, cuda"),
        ("instructions", {"instructions": "AVX512"}, "AVX2; AVX512"),
        ("torch", {"packages": {"torch": "2.10.0"}}, "2.10.0; 2.9.0"),
        ("numerics", {"numerics": 3}, "2; 3"),
    ],
)
def test_each_difference_is_named_with_what_differs(name, other, said):
    both = [HERE, HERE | other]
    assert differing(both) == [name]
    assert all_said(name, both) == said
    assert differences(both) == f"{name} ({said})"


def test_an_old_environment_that_says_nothing_is_unknown():
    assert differing([HERE, {}]) == ["commit", "machine", "instructions", "torch", "numerics"]
