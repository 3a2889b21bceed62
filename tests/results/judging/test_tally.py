"""Tallies count what may be counted, and Holm's correction is as published."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.results.judging.claims import judge
from lnexp.results.judging.tally import holm, judged_in_words, tally


@pytest.fixture
def claim(make_run):
    runs = [make_run(arm, seed, [bleu + seed]) for arm, bleu in (("good", 90.0), ("bad", 1.0)) for seed in (11, 12, 13)]
    return judge(make_run.recipe.claims[0], make_run.recipe, runs)


@pytest.mark.parametrize(
    ("p_values", "significant"),
    [
        ([], []),
        ([0.04], [True]),
        ([0.04, 0.04], [False, False]),
        ([0.04, 0.02], [True, True]),
        ([0.01, 0.04, 0.03, 0.005], [True, False, False, True]),  # Holm's example in textbooks
        ([0.05], [False]),
    ],
)
def test_holm(p_values, significant):
    assert holm(p_values) == significant


@pytest.mark.parametrize(
    ("seeds", "standing", "why"),
    [
        ([11, 12, 13], "3 of 3 planned seeds", ""),
        ([11, 12], "2 of 3 planned seeds", "fewer seeds than planned"),
        ([1, 2, 3], "0 of 3 planned seeds and 3 others", "fewer seeds than planned"),
        ([12, 13, 14], "2 of 3 planned seeds and 1 others", "fewer seeds than planned"),
        ([11, 12, 13, 14], "3 of 3 planned seeds and 1 others", "more seeds than planned"),
    ],
)
def test_a_claim_counts_on_the_planned_seeds(make_run, seeds, standing, why):
    runs = [make_run(arm, seed, [bleu + seed]) for arm, bleu in (("good", 90.0), ("bad", 1.0)) for seed in seeds]
    judged = judge(make_run.recipe.claims[0], make_run.recipe, runs, range(11, 14))
    assert judged.standing.endswith(f", {standing}")
    assert judged.left_out == why


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_rejects_what_bonferroni_does_and_nothing_above_the_level(p_values):
    for p, significant in zip(p_values, holm(p_values), strict=True):
        assert significant or p >= 0.05 / len(p_values)
        assert not significant or p < 0.05


def test_late_exploratory_and_unfinished_claims_and_the_same_contrast_are_not_counted(claim):
    late, exploratory = replace(claim, registered="after"), replace(claim, exploratory=True)
    others = [late, exploratory, replace(claim, id="again"), replace(claim, planned=claim.seeds + 1)]
    others += [replace(claim, implied_by="y"), replace(claim, restates="y"), replace(claim, check=True)]
    found = tally([claim, *others, replace(claim, contrast="another", p=0.03)])
    assert found.verdicts == {"reproduced": 2, "contradicted": 0, "inconclusive": 0, "not run": 0}
    assert found.left_out == {
        "registered after the runs": 1,
        "exploratory": 1,
        "fewer seeds than planned": 1,
        "implied by another claim": 1,
        "restates another claim": 1,
        "a check": 1,
        "decided by the numbers of another claim": 1,
    }
    assert (found.decided, found.survive) == (2, 2)
    assert found.text.endswith("2 of 2 decided verdicts survive Holm's correction at 5% over these claims")


def test_the_tally_of_the_last_screen_says_why_claims_do_not_count(claim):
    few = [replace(claim, contrast=str(number), planned=claim.seeds + 1) for number in range(2)]
    late = replace(claim, registered="after")
    assert tally([*few, late]).short_text == (
        "no claim that counts was judged; 3 more do not count: 2 fewer seeds than planned, 1 registered after the runs"
    )
    assert tally([claim, late]).short_text.startswith(
        "1 claim judged: 1 reproduced; 1 more does not count: 1 registered after the runs; 1 of 1 decided"
    )


def test_a_line_on_what_was_judged(claim):
    found = judged_in_words([claim, replace(claim, planned=claim.seeds + 1), replace(claim, verdict="not run")])
    assert found == "2 claims: 2 reproduced; 1 of them count"
    assert judged_in_words([replace(claim, verdict="not run")]) == ""


def test_more_tests_leave_fewer_verdicts(claim):
    weak = [replace(claim, id=f"weak-{number}", contrast=str(number), p=0.04) for number in range(5)]
    assert (tally(weak[:1]).survive, tally(weak[:1]).weak) == (1, ())
    assert (tally(weak).survive, tally(weak).decided) == (0, 5)
    assert tally([*weak, replace(claim, contrast="strong", p=0.001)]).weak == tuple(weak)


def test_what_the_same_numbers_decide_is_as_weak(claim):
    weak = [replace(claim, id=f"weak-{number}", contrast=str(number), p=0.04) for number in range(5)]
    again, unsure = replace(weak[3], id="again"), replace(claim, id="unsure", contrast="3", verdict="inconclusive")
    found = tally([claim, *weak, again])
    assert (found.weak, found.repeated) == ((*weak, again), (again,))
    assert tally([replace(claim, p=0.001), replace(claim, id="again")]).weak == ()
    assert tally([unsure, replace(unsure, id="again")]).weak == ()


def test_one_contrast_is_the_same_numbers_whatever_arms_are_called(make_run):
    def contrast(holds_if, shift=0):
        runs = [make_run(arm, seed + shift, [9.0, 7.0 + seed]) for arm in ("good", "bad") for seed in (1, 2)]
        return judge(make_run.claim(holds_if), make_run.recipe, runs).contrast

    test = "best_bleu(bad) < best_bleu(good)"
    assert contrast(test) == contrast("best_bleu(bad)  <  best_bleu(good)")
    assert contrast(test) != contrast(test, shift=1)
    assert contrast(test) != contrast("last_bleu(bad) < best_bleu(good)")
    assert contrast("success(good) > 0.5") != contrast("success(bad) > 0.5"), "they have one score, and other runs"
    assert contrast("success(good) > 0.5") != contrast("success(good) < 0.5")
    runs = [make_run(arm, seed, [9.0, 7.0 + seed]) for arm in ("good", "bad") for seed in (1, 2)]
    renamed = {"good": "first", "bad": "second"}
    arms = {renamed[name]: replace(arm, name=renamed[name]) for name, arm in make_run.recipe.arms.items()}
    recipe = replace(make_run.recipe, arms=arms)
    moved = [replace(run, job=replace(run.job, recipe=recipe, arm=arms[renamed[run.job.arm.name]])) for run in runs]
    claim = make_run.claim("best_bleu(second) < best_bleu(first)")
    assert judge(claim, recipe, moved).contrast == contrast(test)
    claim = make_run.claim("success(second) > 0.5")
    assert judge(claim, recipe, moved).contrast == contrast("success(bad) > 0.5")
