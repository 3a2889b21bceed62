"""What did not reproduce is said in plain sentences, and nothing is left out."""

import shutil

import pytest
from helpers import ROOT, contradict

from lnexp.results.judging.verdicts import all_verdicts
from lnexp.results.pages import contradictions
from lnexp.results.pages.contradictions import SENTENCES, findings, not_reproduced

RESULTS = ROOT / "results"


def counted(results):
    """The ids of the contradicted claims that tallies count."""
    claims = [claim for one in all_verdicts(results) for claim in one.content.claims]
    return {claim.id for claim in claims if claim.verdict == "contradicted" and claim.counts}


def test_every_published_contradiction_has_a_sentence():
    said = not_reproduced(all_verdicts(RESULTS))
    known = {claim for sentence in said for finding in SENTENCES[sentence] for claim in finding}
    contradicted = counted(RESULTS)
    assert contradicted <= known
    for sentence in said:
        assert all(map(contradicted.intersection, SENTENCES[sentence])), sentence


@pytest.fixture
def folder(tmp_path):
    for place in ("small/toy/fig4ab", "small/toy/fig2a"):
        shutil.copytree(RESULTS / place, tmp_path / place, ignore=shutil.ignore_patterns("figure*"))
    return tmp_path


BOTH = "RAdam fails, and Post-LN needs no warm-up"
OF_BOTH = {BOTH: (("fig4ab-radam-trains-post-ln", "elsewhere"), ("fig2a-no-warmup-fails-low",))}


def test_a_sentence_of_several_findings_stands_only_where_all_are_contradicted(folder, monkeypatch):
    monkeypatch.setattr(contradictions, "SENTENCES", OF_BOTH)
    contradict(folder / "small/toy/fig4ab", "fig4ab-radam-trains-post-ln")
    of_one = not_reproduced(all_verdicts(folder))
    assert BOTH not in of_one
    assert of_one["`fig4ab-radam-trains-post-ln`"] == ["embedded corpus"]
    contradict(folder / "small/toy/fig2a", "fig2a-no-warmup-fails-low")
    assert not_reproduced(all_verdicts(folder))[BOTH] == ["embedded corpus"]


def test_a_sentence_leads_to_the_results_and_claims_that_show_it(folder, monkeypatch):
    monkeypatch.setattr(contradictions, "SENTENCES", OF_BOTH)
    contradict(folder / "small/toy/fig4ab", "fig4ab-radam-trains-post-ln")
    contradict(folder / "small/toy/fig2a", "fig2a-no-warmup-fails-low")
    (one,) = findings(all_verdicts(folder))[BOTH]
    assert one.places == ("small/toy/fig4ab", "small/toy/fig2a")
    assert [[claim.id for claim in thing] for thing in one.claims] == [
        ["fig4ab-radam-trains-post-ln"],
        ["fig2a-no-warmup-fails-low"],
    ]
    assert {claim.verdict for thing in one.claims for claim in thing} == {"contradicted"}


@pytest.mark.parametrize("claim_id", ["fig4ab-radam-trains-post-ln", "fig4ab-pre-ln-is-faster"])
def test_a_contradiction_is_named_with_its_corpus(folder, claim_id):
    before = not_reproduced(list(all_verdicts(folder)))
    contradict(folder / "small/toy/fig4ab", claim_id)
    after = not_reproduced(list(all_verdicts(folder)))
    ((sentence, corpora),) = (one for one in after.items() if one[0] not in before)
    known = SENTENCES.get(sentence, [[sentence.strip("`")]])
    assert claim_id in known[0], "a claim without a sentence stands there by its id"
    assert corpora == ["embedded corpus"]
