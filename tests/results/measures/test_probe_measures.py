"""What claims ask of probes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.errors import UserError
from lnexp.recipes.jobs import THEORY, Job
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.probe_result import ProbeResult
from lnexp.results.measures.probe_measures import PROBE_MEASURES

RECIPE = load_recipe("fig3")


def probed(values: dict[float, float]) -> ProbeResult:
    job = Job(RECIPE, THEORY, RECIPE.arms["tied_last_pre_ln"], 1)
    return ProbeResult(job, [{"layers": x, "grad_norm": y} for x, y in values.items()])


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_the_exponent_of_a_power_law_is_found(power, factor):
    result = probed({x: factor * x**power for x in (2, 4, 8, 64)})
    assert PROBE_MEASURES["exponent"](result) == pytest.approx(power, abs=1e-9)


@given(st.floats(-3, 3), st.floats(-100, 100))
def test_the_slope_of_a_line_is_found(slope, offset):
    result = probed({x: offset + slope * x for x in (1, 2, 5, 9)})
    assert PROBE_MEASURES["slope"](result) == pytest.approx(slope, abs=1e-9)


@given(st.floats(0.5, 2), st.floats(0.01, 100))
def test_the_growth_of_a_geometric_series_is_found(ratio, factor):
    result = probed({x: factor * ratio**x for x in range(1, 7)})
    assert PROBE_MEASURES["growth"](result) == pytest.approx(ratio, rel=1e-9)


@given(st.floats(0, 1))
def test_the_predicted_growth_takes_the_variances_of_attention_to_the_source(variance):
    rows = [{"layers": x, "grad_norm": 1.0, "source_variance": variance} for x in (3, 1, 2)]
    job = probed({1: 1.0}).job
    assert PROBE_MEASURES["predicted_growth"](ProbeResult(job, rows)) == pytest.approx(math.sqrt(1 + variance))


def test_the_predicted_growth_is_fitted_by_layer_as_the_measured_is():
    variances = {3: 0.5, 1: 9.0, 2: 0.1}
    gradients = {1: 1.0, 2: math.sqrt(1.1), 3: math.sqrt(1.1 * 1.5)}
    rows = [{"layers": x, "grad_norm": gradients[x], "source_variance": v} for x, v in variances.items()]
    result = ProbeResult(probed({1: 1.0}).job, rows)
    assert PROBE_MEASURES["predicted_growth"](result) == pytest.approx(PROBE_MEASURES["growth"](result))


def test_a_growth_cannot_be_predicted_of_what_was_not_measured():
    with pytest.raises(UserError, match="fig3: tied_last_pre_ln has no column source_variance"):
        PROBE_MEASURES["predicted_growth"](probed({1: 1.0, 2: 1.0}))


def test_the_others_are_what_they_are_called():
    result = probed({3: 5.0, 1: 2.0, 2: 8.0})
    found = {name: PROBE_MEASURES[name](result) for name in ("mean", "least", "greatest", "first", "last")}
    assert found == {"mean": 5.0, "least": 2.0, "greatest": 8.0, "first": 2.0, "last": 5.0}


@pytest.mark.parametrize(
    ("values", "measure", "said"),
    [
        ({2: 1.0}, "slope", "fig3: tied_last_pre_ln has a single value of layers, which gives no slope"),
        ({2: 1.0}, "growth", "gives no slope"),
        ({}, "mean", "fig3: tied_last_pre_ln: no row has both of what its plot asks for, layers and grad_norm"),
        ({}, "first", "no row has both"),
    ],
)
def test_too_few_rows_are_named(values, measure, said):
    with pytest.raises(UserError, match=said):
        PROBE_MEASURES[measure](probed(values))
