"""The first screen says what the results say, and no more."""

import json
import shutil

import pandas as pd
import pytest
from helpers import as_of_fewer_seeds

from lnexp.paths import RESULTS_DIR
from lnexp.report.front import front_of
from lnexp.report.sections import find_sections
from lnexp.results.judging.verdict_file import read_verdicts

PLACES = ("small/toy/fig4ab", "medium/multi30k/fig4ab", "small/toy/fig2a")
#: Where the same results are of fewer seeds than planned.
UNCOUNTED = "small/iwslt14-subset/fig4ab"


@pytest.fixture
def results(tmp_path):
    """A root of results that a test may change."""
    for place in PLACES:
        shutil.copytree(RESULTS_DIR / place, tmp_path / place)
    return tmp_path


def front(results):
    return front_of(find_sections(results, 0))


def row(results, words):
    return next(row for row in front(results).claims if row.words == words)


def test_corpora_that_tallies_do_not_count_are_shown_where_no_other_is(results):
    as_of_fewer_seeds(RESULTS_DIR / PLACES[0], results / UNCOUNTED)
    assert [corpus.data for corpus in front(results).corpora] == ["multi30k", "toy"]
    for place in PLACES:
        shutil.rmtree(results / place)
    assert [corpus.data for corpus in front(results).corpora] == ["iwslt14-subset"]


def test_a_corpus_without_the_answer_does_not_hide_one_that_has_it_uncounted(results):
    for place in PLACES[:2]:
        shutil.rmtree(results / place)
    as_of_fewer_seeds(RESULTS_DIR / PLACES[0], results / UNCOUNTED)
    assert {corpus.data for corpus in front(results).corpora} == {"toy", "iwslt14-subset"}


def test_sections_call_corpora_as_the_front_does(results):
    shutil.copytree(results / PLACES[0], results / "medium" / "toy" / "fig4ab")
    names = {corpus.name for corpus in front(results).corpora}
    assert names == {"Multi30k", "embedded corpus (medium)", "embedded corpus (small)"}
    assert {section.corpus for section in find_sections(results, 0)} == names


def test_signs_are_the_verdicts_and_say_what_does_not_count(results):
    words = "Pre-LN without warm-up is at most 5% behind Post-LN with it"
    _, toy = row(results, words).marks
    claim = read_verdicts(results / PLACES[0] / "verdicts.json").claims[0]
    assert (toy.sign, toy.counts, toy.words) == ("✓", True, f"embedded corpus: reproduced, {claim.estimate_text}")
    assert toy.margin in claim.margins
    for place in PLACES:
        shutil.rmtree(results / place)
    as_of_fewer_seeds(RESULTS_DIR / PLACES[0], results / UNCOUNTED)
    (subset,) = row(results, words).marks
    assert (subset.sign, subset.counts) == ("(✓)", False)
    assert subset.words.endswith("does not count: fewer seeds than planned")


def test_a_margin_reaches_as_far_as_its_row(results):
    found = row(results, "With RAdam (β2 = 0.98) and no warm-up Post-LN is at most 15% behind Adam with it")
    ends = [abs(end) for mark in found.marks for end in (mark.margin.low, mark.margin.high)]
    assert found.reach == max(ends)


def test_what_corpora_disagree_on_is_named(results):
    names = ["fig4ab-radam-trains-post-ln", "fig4ab-radam-post-ln-succeeds"]
    assert [row.words for row in front(results).disagreements] == names


def test_a_claim_that_nothing_was_run_for_is_left_out(results):
    words = [row.words for row in front(results).claims]
    assert "Without warm-up Post-LN fails" in words
    assert "At a small constant rate it trains without warm-up" not in words


def test_nothing_is_answered_where_nothing_answers(results):
    for place in PLACES[:2]:
        shutil.rmtree(results / place)
    found = front(results)
    assert found.answer == ""
    assert [corpus.data for corpus in found.corpora] == ["toy"], "its table has two rows all the same"
    assert found.rows[0][1] == ["9.3 (1 of 10)"]


def test_damaged_tables_leave_a_dash(results):
    for name in ("runs.csv", "provenance.json"):
        (results / PLACES[0] / name).write_text("{")
        (results / PLACES[2] / name).write_text("{")
    cells = dict(front(results).rows)
    assert cells["Pre-LN, no warm-up"] == ["35.3 (6 of 6)"]


def without_rows(folder, column, value):
    """Leave the rows out of the tables of runs that have a value."""
    for path in (folder / "runs.csv", folder / "epochs.csv"):
        table = pd.read_csv(path, dtype=str)
        table[table[column] != value].to_csv(path, index=False)


def test_seeds_that_are_others_than_those_of_the_corpus_are_said(results):
    without_rows(results / PLACES[0], "arm", "post_ln_adam")
    without_rows(results / PLACES[2], "seed", "101")
    _, toy = front(results).corpora
    assert toy.cells[0].endswith("of 9; seeds 102 to 110)")
    assert "seeds" not in toy.cells[1]
    assert toy.scale.endswith(", seeds 101 to 110")


def test_a_single_seed_has_a_margin_without_ends(results):
    path = results / PLACES[2] / "verdicts.json"
    content = json.loads(path.read_text())
    for claim in content["claims"]:
        for margin in claim["margins"]:
            margin |= {"low": None, "high": None, "n": 1}
        if claim["margins"]:
            claim["verdict"] = "inconclusive"
    path.write_text(json.dumps(content))
    _, toy = row(results, "Without warm-up Post-LN fails").marks
    assert toy.margin.low is None
    assert row(results, "Without warm-up Post-LN fails").reach == abs(toy.margin.mean)


def test_contradictions_are_said_by_whose_claims_they_are(results):
    shutil.copytree(RESULTS_DIR / "theory/gaussian/theory_lemma3", results / "theory/gaussian/theory_lemma3")
    said = front(results).contradicted
    assert said["on the paper's experiments"] == {
        "With RAdam (β2 = 0.98; for 0.999 see `radam`) and no warm-up Post-LN does not train well": ["Multi30k"],
        "With RAdam (β2 = 0.98), linear decay and no warm-up Post-LN ends over 0.04 nats behind Adam with warm-up": [
            "embedded corpus"
        ],
    }
    assert list(said["on its theory"].values()) == [["Gaussian inputs"]]
    assert "beyond the paper" not in said
