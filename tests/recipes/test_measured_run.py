"""The arm of another recipe that a measurement is of."""

import pytest

from lnexp.errors import UserError
from lnexp.recipes.measured_run import measured_arm

PLACEMENTS = {"lr_max": "low", "warmup": "none", "placement": "b2t"}


@pytest.mark.parametrize("arm", ["low_none_b2t", PLACEMENTS, dict(reversed(PLACEMENTS.items()))])
def test_an_arm_is_named_or_put_together_of_its_values(arm):
    recipe, found = measured_arm({"recipe": "placements", "arm": arm})
    assert (recipe.name, found.name) == ("placements", "low_none_b2t")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"arm": "none"}, r"run\.recipe: not set"),
        ({"recipe": "placements"}, r"run\.arm: not set"),
        ({"recipe": "placement", "arm": "none"}, "recipe=placement"),
        ({"recipe": "placements", "arm": "low_none_b2"}, r"run\.arm=low_none_b2: .* did you mean low_none_b2t"),
        (
            {"recipe": "placements", "arm": PLACEMENTS | {"placement": "b3t"}},
            r"run\.arm=low_none_b3t: recipe placements has",
        ),
        (
            {"recipe": "placements", "arm": {"warmup": "none"}},
            "axes of recipe placements are lr_max, warmup, placement, not",
        ),
        (
            {"recipe": "interventions", "arm": {"warmup": "none"}},
            "the axes of recipe interventions are none, not warmup",
        ),
    ],
)
def test_what_names_no_arm_is_refused(run, message):
    with pytest.raises(UserError, match=message):
        measured_arm(run)
