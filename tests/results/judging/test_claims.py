"""Verdicts on runs whose right verdict is known."""

from dataclasses import asdict, replace

import pytest

from lnexp.errors import UserError
from lnexp.results.judging.claims import Origin, judge, judge_all


def arms(make_run, good, bad):
    """Runs with these best BLEU, seed by seed."""
    return [make_run("good", seed, [1.0, bleu]) for seed, bleu in enumerate(good)] + [
        make_run("bad", seed, [bleu, 0.0]) for seed, bleu in enumerate(bad)
    ]


@pytest.mark.parametrize(
    ("good", "bad", "verdict"),
    [
        ([90, 92, 94], [0, 3, 1], "reproduced"),
        ([90, 92, 94], [88, 91, 90], "contradicted"),
        ([90, 92, 94], [0, 90, 45], "inconclusive"),
        ([90], [0], "inconclusive"),  # one seed shows no difference
        ([90, 92], [], "not run"),
        ([], [], "not run"),
        ([90, 92, 94], [0], "inconclusive"),  # only one seed is shared
    ],
)
def test_known_verdicts(make_run, good, bad, verdict):
    claim = make_run.recipe.claims[0]
    runs = [*arms(make_run, good, bad), make_run.missing("good", 9), make_run.missing("bad", 9)]
    assert judge(claim, make_run.recipe, runs).verdict == verdict


def test_the_numbers_stand_beside_the_verdict(make_run):
    judgement = judge(make_run.recipe.claims[0], make_run.recipe, arms(make_run, [90, 92, 94], [0, 3, 3]))
    assert judgement.arms["good"].runs == ["good0", "good1", "good2"]
    numbers = {
        key: value
        for key, value in asdict(judgement.arms["good"]).items()
        if key in ("measure", "mean", "low", "high", "n")
    }
    assert numbers == pytest.approx(
        {"measure": "best_bleu", "mean": 92, "low": 92 - 4.3027 * 2 / 3**0.5, "high": 92 + 4.3027 * 2 / 3**0.5, "n": 3},
        abs=0.01,
    )
    assert judgement.arms["bad"].mean == 2
    assert judgement.estimate is not None
    assert judgement.estimate.mean == pytest.approx(46 - 2)


def test_an_arm_of_two_modes_has_the_range_of_its_runs(make_run):
    judged = judge(make_run.recipe.claims[0], make_run.recipe, arms(make_run, [90, 92, 94], [0, 70, 1]))
    assert judged.arms["good"].extremes is None
    assert judged.arms["bad"].extremes == [0, 70]
    assert judged.measured["best_bleu(bad)"] == "23.67 (0.00 to 70.00, n=3)"
    assert judged.measured["best_bleu(good)"] == "92.00 [87.03, 96.97] (n=3)"


def test_an_arm_whose_interval_leaves_what_is_possible_has_the_range_of_its_runs(make_run):
    runs = [make_run("good", seed, [97.0 + seed / 4]) for seed in range(4)]
    runs += [make_run("bad", seed, [bleu]) for seed, bleu in enumerate((0.0, 0.1, 0.1, 1.0))]
    judged = judge(make_run.recipe.claims[0], make_run.recipe, runs)
    assert judged.arms["good"].extremes is None
    assert judged.arms["bad"].extremes == [0, 1], "Student's t would reach below 0 BLEU"


def test_runs_that_are_not_over_are_no_evidence(make_run):
    runs = arms(make_run, [90, 92, 94], [0, 3, 1])
    runs += [make_run("good", seed, [90.0]) for seed in (3, 4, 5)]  # seeds that both arms have
    unfinished = [make_run("bad", seed, [99.0], state="running") for seed in (3, 4)]
    failed = [make_run("bad", 5, [99.0], state="failed")]
    assert judge(make_run.recipe.claims[0], make_run.recipe, [*runs, *unfinished, *failed]).verdict == "reproduced"


def test_divergence_is_a_result(make_run):
    good = [make_run("good", seed, [90.0 + seed]) for seed in range(3)]
    diverged = [make_run("bad", 0, [], "diverged"), make_run("bad", 1, [2.0], "diverged"), make_run("bad", 2, [0.0])]
    judgement = judge(make_run.recipe.claims[0], make_run.recipe, good + diverged)
    assert judgement.verdict == "reproduced"
    assert judgement.arms["bad"].n == 3


def with_loss(run, loss):
    for record in run.epochs:
        record["valid_loss"] = loss
    return run


@pytest.mark.parametrize(
    ("lost", "good", "verdict", "standing"),
    [
        ([], [11, 12, 13], "reproduced", "3 of 3 planned seeds"),
        ([12], [11, 12, 13], "inconclusive", "3 of 3 planned seeds"),
        ([11, 12, 13], [11, 12, 13], "inconclusive", "3 of 3 planned seeds"),
        ([12], [11, 13], "inconclusive", "2 of 3 planned seeds"),
        ([12], [], "not run", "(1234abc)"),
    ],
)
def test_a_run_that_diverged_without_a_loss_is_not_left_out(make_run, lost, good, verdict, standing):
    """The others say nothing of it: 4 against 3 nats would be reproduced."""
    bad = [make_run("bad", seed, [], "diverged") for seed in lost]
    bad += [with_loss(make_run("bad", seed, [1.0]), 4.0 + seed / 100) for seed in (11, 12, 13) if seed not in lost]
    runs = [*bad, *(with_loss(make_run("good", seed, [90.0]), 3.0) for seed in good)]
    judged = judge(make_run.claim("last_loss(bad) > last_loss(good)"), make_run.recipe, runs)
    assert judged.verdict == verdict
    assert judged.standing.endswith(standing)
    assert judged.counts == (len(good) != 2), "a claim stays in the tally"
    assert judged.arms["bad"].diverged == len(lost)
    if lost and good:
        assert judged.p is None
        assert judged.measured["last_loss(bad)"].endswith(f"{len(lost)} of 3 runs diverged without a value")
        assert judged.estimate_text == "not decided, because runs diverged without a value"


@pytest.mark.parametrize(
    "holds_if", ["best_bleu(good) / diverged(bad) > 1", "same(best_bleu(bad), 1 / diverged(good), within=9)"]
)
def test_a_test_that_divides_by_a_measured_zero_decides_nothing_and_stops_no_other(make_run, holds_if):
    sound = make_run.recipe.claims[0]
    recipe = replace(make_run.recipe, claims=[replace(make_run.claim(holds_if), id="ratio"), sound])
    runs = arms(make_run, [90, 92, 94], [0, 3, 1])
    undecided, decided = judge_all(recipe, runs, Origin("small", "toy", "", "")).claims
    assert (undecided.verdict, decided.verdict) == ("inconclusive", "reproduced")
    assert (undecided.estimate, undecided.margins, undecided.p) == (None, [], None)
    assert undecided.estimate_text.startswith("not decided, because its test divides by a measure that is zero; ")
    assert judge_all(recipe, [], Origin("small", "toy", "", "")).claims[0].verdict == "not run"


def test_a_run_that_diverged_has_no_last_loss(make_run):
    """The loss before it diverged was as good as any."""
    bad = [with_loss(make_run("bad", seed, [9.0], "diverged" if seed == 12 else "finished"), 3.0) for seed in (11, 12)]
    runs = [*bad, *(with_loss(make_run("good", seed, [9.0]), 3.0 + seed / 100) for seed in (11, 12))]
    judged = judge(make_run.claim("last_loss(bad) < last_loss(good) + 1"), make_run.recipe, runs)
    assert (judged.verdict, judged.arms["bad"].diverged, judged.p) == ("inconclusive", 1, None)
    assert judge(make_run.claim("best_loss(bad) < best_loss(good) + 1"), make_run.recipe, runs).arms["bad"].n == 2


def test_claims_that_have_no_number_are_two_pieces_of_evidence(make_run):
    runs = [make_run(arm, seed, [], "diverged") for arm in ("good", "bad") for seed in (11, 12)]
    contrasts = [
        judge(make_run.claim(holds_if), make_run.recipe, runs).contrast
        for holds_if in ("last_loss(bad) > last_loss(good)", "best_nll(good) < best_nll(bad)")
    ]
    assert len(set(contrasts)) == 2


def test_a_claim_that_has_no_number_on_two_corpora_is_two_pieces_of_evidence(make_run):
    claim = make_run.claim("last_loss(bad) > last_loss(good)")
    runs = [make_run(arm, seed, [], "diverged") for arm in ("good", "bad") for seed in (11, 12)]
    elsewhere = [replace(run, identity=f"{run.identity}-elsewhere") for run in runs]
    here, there, again = (judge(claim, make_run.recipe, some).contrast for some in (runs, elsewhere, runs[::-1]))
    assert here == again != there


@pytest.mark.parametrize("holds_if", ["success({}) > 0.5", "best_bleu({}) < 1"])
def test_arms_of_equal_numbers_are_two_pieces_of_evidence(make_run, holds_if):
    runs = [make_run(arm, seed, [0.0]) for arm in ("good", "bad") for seed in (11, 12)]
    contrasts = {judge(make_run.claim(holds_if.format(arm)), make_run.recipe, runs).contrast for arm in ("good", "bad")}
    assert len(contrasts) == 2


def test_a_success_rate_of_seeds_that_were_not_planned_does_not_count(make_run):
    """They decide it, whether or not the best arm has them."""
    runs = [make_run(arm, seed, [90.0]) for arm in ("good", "bad") for seed in (11, 12, 13)]
    claim, planned = make_run.claim("success(bad) > 0.5"), range(11, 14)
    assert judge(claim, make_run.recipe, runs, planned).counts
    for arm in ("good", "bad"):
        more = [*runs, make_run(arm, 14, [95.0 if arm == "good" else 85.0])]
        judged = judge(claim, make_run.recipe, more, planned)
        assert (judged.seeds, judged.others, judged.left_out) == (3, 1, "more seeds than planned")
    paired = judge(make_run.claim("best_bleu(bad) < best_bleu(good)"), make_run.recipe, more, planned)
    assert (paired.seeds, paired.others) == (3, 0)


def test_a_run_that_diverged_before_the_early_epoch_has_no_early_loss(make_run):
    runs = [make_run(arm, seed, [9.0] * 5) for arm in ("good", "bad") for seed in (11, 12)]
    runs += [make_run("good", 13, [9.0] * 5), make_run("bad", 13, [9.0, 9.0], "diverged")]
    judged = judge(make_run.claim("early_loss(bad) < early_loss(good)"), make_run.recipe, runs)
    assert (judged.verdict, judged.arms["bad"].diverged, judged.counts) == ("inconclusive", 1, True)
    assert judge(make_run.claim("early_bleu(bad) < early_bleu(good)"), make_run.recipe, runs).arms["bad"].n == 3


def test_a_number_that_was_not_finite_is_no_value(make_run):
    runs = [
        make_run("good", 0, [None]),
        make_run("good", 1, [None, 90.0]),
        make_run("bad", 0, [1.0]),
        make_run("bad", 1, [1.0]),
    ]
    judgement = judge(make_run.recipe.claims[0], make_run.recipe, runs)
    assert judgement.arms["good"].n == 1
    assert judgement.verdict == "inconclusive"


def test_an_arm_can_be_asked_twice(make_run):
    claim = make_run.claim("last_bleu(good) < best_bleu(good)")
    runs = [make_run("good", seed, [90.0, 80.0 + seed]) for seed in range(3)]
    judgement = judge(claim, make_run.recipe, runs)
    assert judgement.verdict == "reproduced"
    assert set(judgement.arms) == {"last_bleu(good)", "best_bleu(good)"}


def test_early_bleu_is_at_three_fifths(make_run):
    claim = make_run.claim("early_bleu(good) > 29")
    runs = [make_run("good", seed, [10.0, 20.0, 30.0 + seed / 10, 40.0, 50.0]) for seed in range(3)]
    assert judge(claim, make_run.recipe, runs).arms["good"].mean == pytest.approx(30.1)


@pytest.mark.parametrize("measure", ["loss", "nll"])
def test_early_loss_is_at_three_fifths(make_run, measure):
    runs = [make_run("good", seed, [10.0] * 5) for seed in range(3)]
    for run in runs:
        for record in run.epochs:
            record[f"valid_{measure}"] = 5.0 - record["epoch"] + run.job.seed / 10
    claim = make_run.claim(f"early_{measure}(good) < 3")
    judged = judge(claim, make_run.recipe, [*runs, make_run("good", 3, [10.0, 10.0])])
    assert judged.arms["good"].mean == pytest.approx(2.1)
    assert judged.arms["good"].n == 3, "the one that ended before has none"


def test_on_a_corpus_that_is_exploratory_no_claim_counts(make_run):
    recipe = replace(make_run.recipe, exploratory_on=("tiny",))
    runs = arms(make_run, [90, 92, 94], [0, 3, 3])
    by_data = {data: judge_all(recipe, runs, Origin("small", data, "", "")).claims[0] for data in ("toy", "tiny")}
    assert {data: claim.exploratory for data, claim in by_data.items()} == {"toy": False, "tiny": True}
    assert by_data["tiny"].verdict == by_data["toy"].verdict


@pytest.mark.parametrize(
    ("holds_if", "message"),
    [
        ("best_blue(good) > 1", "no measure best_blue; did you mean best_bleu"),
        ("exponent(good) > 1", "no measure exponent"),  # which probes have
        ("best_bleu(god) > 1", "no arm god; did you mean good"),
        ("best_bleu(good)", "must be one comparison"),
        ("1 < best_bleu(good) < 2", "must be one comparison"),
        ("best_bleu(good) == 1", "must be one comparison"),
        ("1 < 2", "measures nothing"),
        ("best_bleu(good) >", "holds_if"),
        ("__import__('os').system('true') > 1", "cannot read"),
        ("best_bleu(good) ** 9 > 1", "cannot read"),
        ("best_bleu('good') > 1", "cannot read"),
        ("(lambda: 1)() > best_bleu(good)", "cannot read"),
        ("True > best_bleu(good)", "cannot read"),
        ("abs(best_bleu(good) - 34) < 2", "write same"),
        ("same(best_bleu(good), 34)", "within=c"),
        ("same(best_bleu(good), 34, within=0)", "within must be above zero"),
        ("same(1, 2, within=best_bleu(good))", "measures nothing"),
        ("success(god) > 0.5", "no arm god; did you mean good"),
        ("success(good) > 1.5", "between 0 and 1"),
        ("success(good) > success(bad)", "write success"),
        ("logit(3) > 1", "cannot read"),
    ],
)
def test_what_is_no_claim_is_refused(make_run, holds_if, message):
    with pytest.raises(UserError, match=message):
        judge(make_run.claim(holds_if), make_run.recipe, arms(make_run, [90, 91], [1, 2]))
