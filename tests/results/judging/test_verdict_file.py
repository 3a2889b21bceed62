"""``verdicts.json`` is read as it was written, and refused where it is anything else."""

import json

import pytest

from lnexp.errors import UserError
from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.verdict_file import Verdicts, read_verdicts, write_verdicts


@pytest.fixture
def verdicts(make_run) -> Verdicts:
    runs = [make_run(arm, seed, [bleu + seed]) for arm, bleu in (("good", 90.0), ("bad", 1.0)) for seed in (1, 2, 3)]
    origin = Origin("small", "toy", "profile small, data toy", "make x", malformed=["bad, seed 4: cut short"])
    return judge_all(make_run.recipe, runs, origin)


@pytest.fixture
def path(verdicts, tmp_path):
    write_verdicts(tmp_path, verdicts)
    return tmp_path / "verdicts.json"


def test_it_comes_back_as_it_was_written(verdicts, path):
    assert read_verdicts(path) == verdicts
    assert verdicts.claims[0].verdict == "reproduced"


@pytest.mark.parametrize("key", ["recipe", "scope", "settings", "malformed", "papers", "claims"])
def test_nothing_may_be_missing(path, key):
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=rf"verdicts\.json: malformed .* does not have {key}"):
        read_verdicts(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["malformed"], "x"),
        (["malformed"], [1]),
        (["claims"], {}),
        (["claims", 0], None),
        (["claims", 0, "paper"], []),
        (["claims", 0, "scope"], "everywhere"),
        (["claims", 0, "verdict"], "proved"),
        (["claims", 0, "verdict"], "contradicted"),
        (["claims", 0, "why"], None),
        (["claims", 0, "more"], 1),
        (["claims", 0, "registered"], "never"),
        (["claims", 0, "since"], ""),
        (["claims", 0, "exploratory"], 1),
        (["claims", 0, "check"], 1),
        (["claims", 0, "implied_by"], None),
        (["claims", 0, "restates"], None),
        (["claims", 0, "form"], "feeling"),
        (["claims", 0, "p"], "small"),
        (["claims", 0, "margins"], []),
        (["claims", 0, "margins", 0, "low"], "1"),
        (["claims", 0, "margins", 0, "mean"], None),
        (["claims", 0, "margins", 0, "mean"], True),
        (["claims", 0, "margins", 0, "mean"], float("nan")),
        (["claims", 0, "arms", "good", "runs"], [1]),
        (["papers"], "yes"),
        (["claims", 0, "arms", "good"], 92.0),
        (["claims", 0, "arms", "good", "n"], 2.5),
        (["claims", 0, "arms", "good", "diverged"], 1),
    ],
)
def test_another_type_or_a_contradiction_is_refused(path, place, value):
    content = json.loads(path.read_text())
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"verdicts\.json: malformed"):
        read_verdicts(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"text"'])
def test_what_is_no_object_is_refused(path, text):
    path.write_text(text)
    with pytest.raises(UserError, match=r"verdicts\.json: malformed"):
        read_verdicts(path)
