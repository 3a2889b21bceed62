"""What claims ask of probes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import THEORY, Job
from lnexp.results.probe_measures import PROBE_MEASURES
from lnexp.results.probe_result import ProbeResult

RECIPE = load_recipe("fig3")


def probed(values: dict[float, float]) -> ProbeResult:
    job = Job(RECIPE, THEORY, RECIPE.arms["tied_pre_ln"], 1)
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


def test_the_others_are_what_they_are_called():
    result = probed({3: 5.0, 1: 2.0, 2: 8.0})
    found = {name: PROBE_MEASURES[name](result) for name in ("mean", "least", "greatest", "last")}
    assert found == {"mean": 5.0, "least": 2.0, "greatest": 8.0, "last": 5.0}
