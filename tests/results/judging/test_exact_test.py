"""An exact test beside Student's t."""

import pytest

from lnexp.results.judging.claims import judge
from lnexp.results.judging.exact_test import by_exact_test


def _claim(make_run, differences):
    """Return the claim that one arm is better than half of the other, judged with these margins."""
    runs = [make_run("bad", seed, [10.0]) for seed in range(len(differences))]
    runs += [make_run("good", seed, [2 * (10.0 + difference)]) for seed, difference in enumerate(differences)]
    judged = judge(make_run.recipe.claims[0], make_run.recipe, runs)
    assert judged.estimate.mean == pytest.approx(sum(differences) / len(differences))
    return judged


@pytest.mark.parametrize(
    ("differences", "found"),
    [
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], "alike"),
        ([-1.0, -1.1, -1.2, -1.3, -1.4, -1.5], "alike"),
        ([1.0, 1.1, 1.2, 1.3, 1.4, -0.1], "others"),
        ([1.0, 1.1, 1.2, 1.3, 1.4], "few"),
        ([1.0, -1.1, 1.2, -1.3, 1.4, -1.5], None),
    ],
)
def test_a_decided_comparison_is_found_alike_or_other_or_of_too_few_seeds(make_run, differences, found):
    claim = _claim(make_run, differences)
    everything = by_exact_test([claim])
    assert {name for name in ("alike", "others", "few") if getattr(everything, name)} == ({found} if found else set())
