"""Each form of ``holds_if`` on values whose right verdict is known."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lnexp.errors import UserError
from lnexp.results.judging.forms import LONGEST, Comparison, Question, parse
from lnexp.results.judging.judgement import verdict_of
from lnexp.results.measures.success import Success

QUESTION = Question({"m": lambda run: run, "diverged": lambda run: 0.0}, ("a", "b"), Success("m", 0.5))

numbers = st.floats(-1e3, 1e3)
samples = st.lists(st.floats(-10, 10), min_size=2, max_size=12)


def judged(holds_if, a, b=()):
    values = {"m(a)": dict(enumerate(a)), "m(b)": dict(enumerate(b)), "diverged(a)": dict.fromkeys(range(len(a)), 0.0)}
    form = parse(holds_if, QUESTION)
    return form.judge({call: values[call] for call in form.calls})


@given(a=numbers, b=numbers)
def test_the_margin_is_what_python_would_compute(a, b):
    values = {"m(a)": a, "m(b)": b}
    less, more = parse("-(m(a) - m(b)) * 2 < 3 + m(a) / 4", QUESTION), parse("m(a) > m(b)", QUESTION)
    assert isinstance(less, Comparison)
    assert isinstance(more, Comparison)
    assert less.margin(values) == pytest.approx((3 + a / 4) + (a - b) * 2)
    assert more.margin(values) == pytest.approx(a - b)


@given(a=samples)
def test_a_comparison_has_scipys_two_sided_p_value(a):
    assume(stats.tstd(a) > 1e-3)
    found = judged("m(a) > 1", a)
    assert found.p == pytest.approx(stats.ttest_1samp(a, 1).pvalue, abs=1e-9)
    assert (found.p < 0.05) == (found.verdict in ("reproduced", "contradicted"))


@pytest.mark.parametrize(("seeds", "verdict"), [(3, "inconclusive"), (5, "inconclusive"), (6, "reproduced")])
def test_one_margin_of_all_seeds_is_judged_by_its_sign(seeds, verdict):
    """Student's t would take it for certain, with two seeds already."""
    found = judged("m(a) > 1", [2.0] * seeds)
    assert found.verdict == verdict
    assert found.p == pytest.approx(stats.binomtest(seeds, seeds).pvalue)
    assert judged("m(a) < 1", [2.0] * seeds).verdict == ("contradicted" if verdict == "reproduced" else verdict)
    assert judged("m(a) > 1", [1.0] * seeds).verdict == "inconclusive"


@pytest.mark.parametrize(("seeds", "verdict"), [(4, "inconclusive"), (5, "reproduced")])
def test_one_difference_of_all_seeds_is_judged_by_its_sign(seeds, verdict):
    assert judged("same(m(a), 1, within=0.5)", [1.25] * seeds).verdict == verdict
    assert judged("same(m(a), 1, within=0.5)", [1.25] * seeds).p == pytest.approx(0.5**seeds)


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(50, 0), (90, math.log(9)), (0, math.log(0.05 / 99.95)), (100, math.log(99.95 / 0.05)), (99.99, math.log(1999))],
)
def test_a_logit_is_clipped(percent, expected):
    found = judged("logit(m(a)) > 0", [percent])
    assert found.estimate is not None
    assert found.estimate.mean == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.0, 1.1, 0.9, 1.0], "reproduced"),
        ([1.6, 1.7, 1.8, 1.7], "contradicted"),
        ([0.1, 0.2, 0.3, 0.2], "contradicted"),
        ([1.4, 1.6, 1.5, 1.5], "inconclusive"),
        ([1.0], "inconclusive"),
        ([], "not run"),
    ],
)
def test_equivalence_to_a_number(values, verdict):
    assert judged("same(m(a), 1, within=0.5)", values).verdict == verdict


def test_noise_around_equality_is_no_contradiction():
    """The mean of |x - 1| would be 0.8, which is not within 0.5."""
    noisy = [0.2, 1.8] * 20
    assert judged("same(m(a), 1, within=0.5)", noisy).verdict == "reproduced"


@given(a=samples, c=st.floats(0.1, 5))
def test_equivalence_is_what_the_90_percent_interval_of_the_difference_says(a, c):
    assume(stats.tstd(a) > 1e-3)
    low, high = stats.t.interval(0.9, len(a) - 1, loc=sum(a) / len(a), scale=stats.sem(a))
    assume(min(abs(abs(low) - c), abs(abs(high) - c)) > 1e-6)
    found = judged(f"same(m(a), 0, within={c!r})", a)
    assert found.estimate is not None
    assert (found.estimate.low, found.estimate.high) == pytest.approx((low, high), abs=1e-9)
    inside, outside = -c < low and high < c, low > c or high < -c
    assert found.verdict == ("reproduced" if inside else "contradicted" if outside else "inconclusive")
    assert found.p is not None
    assert (found.p < 0.05) == (inside or outside)


def test_a_margin_may_be_measured():
    assert judged("same(m(a), m(b), within=0.1 * m(b))", [95, 96, 97], [100, 101, 102]).verdict == "reproduced"
    assert judged("same(m(a), m(b), within=0.1 * m(b))", [75, 76, 77], [100, 101, 102]).verdict == "contradicted"


@pytest.mark.parametrize(
    ("holds_if", "successes", "verdict"),
    [
        ("success(a) > 0.5", 10, "reproduced"),
        ("success(a) > 0.5", 8, "inconclusive"),
        ("success(a) > 0.5", 0, "contradicted"),
        ("success(a) < 0.5", 0, "reproduced"),
        ("success(a) < 0.5", 10, "contradicted"),
    ],
)
def test_a_success_rate(holds_if, successes, verdict):
    found = judged(holds_if, [60.0] * successes + [2.0] * (10 - successes), [90.0, 92.0])
    assert found.verdict == verdict
    assert found.estimate is not None
    exact = stats.binomtest(successes, 10).proportion_ci(method="exact")
    assert (found.estimate.low, found.estimate.high) == pytest.approx((exact.low, exact.high))


@given(n=st.integers(1, 30), data=st.data(), rate=st.floats(0.05, 0.95))
def test_the_p_value_of_a_success_rate_agrees_with_its_interval(n, data, rate):
    successes = data.draw(st.integers(0, n))
    found = judged(f"success(a) > {rate!r}", [60.0] * successes + [2.0] * (n - successes), [90.0])
    assert found.p is not None
    assume(abs(found.p - 0.05) > 1e-9)
    assert (found.p < 0.05) == (found.verdict in ("reproduced", "contradicted"))


def test_a_diverged_run_is_no_success():
    form = parse("success(a) > 0.5", QUESTION)
    scores = dict.fromkeys(range(10), 90.0)
    diverged = {seed: float(seed > 2) for seed in scores}
    found = form.judge({"m(a)": scores, "m(b)": {0: 95.0}, "diverged(a)": diverged})
    assert found.estimate is not None
    assert found.estimate.mean == pytest.approx(0.3)


def test_a_success_rate_waits_for_every_arm_since_any_can_be_the_best():
    assert judged("success(a) > 0.5", [60.0] * 10).verdict == "not run"


def test_beside_a_success_rate_stand_its_arm_and_the_best():
    form = parse("success(a) > 0.5", QUESTION)
    assert list(form.shown({"m(a)": {0: 1.0}, "m(b)": {0: 2.0}})) == ["m(a)", "m(b)"]


def test_no_margins_mean_not_run():
    assert verdict_of([]) == "not run"


@pytest.mark.parametrize("holds_if", ["m(a) / m(b) > 2", "m(a) < 1 / (m(b) - m(b))"])
def test_a_division_by_zero_is_one_line(holds_if):
    with pytest.raises(UserError, match="a divisor is zero"):
        judged(holds_if, [1.0, 2.0], [0.0, 0.0])


@pytest.mark.parametrize("divisor", ["0", "-0.0", "(2 - 1 - 1)", "(0 * 3)"])
def test_a_division_by_a_constant_zero_is_refused_before_any_run(divisor):
    with pytest.raises(UserError, match="divides by zero"):
        parse(f"m(a) < 0.5 * m(b) / {divisor}", QUESTION)


@pytest.mark.parametrize("number", ["1e400", "1" + "0" * 320])
def test_a_number_that_nothing_can_be_is_refused(number):
    with pytest.raises(UserError, match="cannot read"):
        parse(f"m(a) < {number}", QUESTION)


def refusal(holds_if):
    """What is said where a test is not read; empty where it is."""
    try:
        parse(holds_if, QUESTION)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", ["{0}m(a){1} > 1", "m(a) > 1{0}+ 1{1}", "m(a) > {2}1"])
def test_the_longest_test_is_read_or_refused_in_a_line(text):
    """However deep it nests."""
    for depth in range(0, LONGEST + 200, 50):
        said = text.format("(" * depth, ")" * depth, "-" * depth)
        refused = refusal(said)
        assert len(refused.splitlines()) <= 1
        assert refused or len(said) <= LONGEST
