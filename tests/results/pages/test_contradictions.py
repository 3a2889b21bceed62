"""What did not reproduce is said in plain sentences, and nothing is left out."""

import shutil

import pytest
from helpers import ROOT, contradict

from lnexp.results.judging.verdicts import all_verdicts
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


def test_a_sentence_of_several_findings_stands_only_where_all_are_contradicted():
    found = all_verdicts(RESULTS)
    several = next(sentence for sentence in not_reproduced(found) if sentence.startswith("Larger betas of Adam"))
    assert len(SENTENCES[several]) == 3
    of_one = not_reproduced([one for one in found if one.recipe == "stall"])
    assert of_one == {"`stall-equal-betas-save`": ["embedded corpus"]}


def test_a_sentence_leads_to_the_results_and_claims_that_show_it():
    found = findings(all_verdicts(RESULTS))
    (one,) = next(of for said, of in found.items() if said.startswith("Larger betas of Adam"))
    assert one.places == ("small/toy/interventions", "small/toy/stall")
    assert {"interventions-long-memory", "stall-equal-betas-save"} < {
        claim.id for thing in one.claims for claim in thing
    }
    assert len(one.claims) == 3
    assert {claim.verdict for thing in one.claims for claim in thing} == {"contradicted"}


@pytest.fixture
def folder(tmp_path):
    place = "small/toy/fig4ab"
    shutil.copytree(RESULTS / place, tmp_path / place, ignore=shutil.ignore_patterns("figure*"))
    return tmp_path


@pytest.mark.parametrize("claim_id", ["fig4ab-radam-trains-post-ln", "fig4ab-pre-ln-is-faster"])
def test_a_contradiction_is_named_with_its_corpus(folder, claim_id):
    before = not_reproduced(list(all_verdicts(folder)))
    contradict(folder / "small/toy/fig4ab", claim_id)
    after = not_reproduced(list(all_verdicts(folder)))
    ((sentence, corpora),) = (one for one in after.items() if one[0] not in before)
    known = SENTENCES.get(sentence, [[sentence.strip("`")]])
    assert claim_id in known[0], "a claim without a sentence stands there by its id"
    assert corpora == ["embedded corpus"]
