"""A run that was trained before, found by its recipe, arm and seed."""

import pytest

from lnexp.errors import UserError
from lnexp.theory.measurement import Context
from lnexp.theory.trained_run import TrainedRun

RUN = {"recipe": "placements", "profile": "small", "arm": "low_none_b2t"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {},
            r"seed 4: not trained; .* profile=small 'arms=\[low_none_b2t\]' first_seed=4 n_seeds=1 data=toy trains it",
        ),
        ({"profile": "medum"}, "profile=medum: recipe placements has none; did you mean medium"),
        ({"arm": "low_none"}, r"run\.arm=low_none: recipe placements has none"),
    ],
)
def test_a_run_that_is_not_there_is_refused(tmp_path, changed, message):
    with pytest.raises(UserError, match=message):
        TrainedRun.of(Context(4, ["data=toy", "arms=[x]", "n_seeds=2", f"runs_dir={tmp_path}"]), RUN | changed)


def test_a_profile_is_needed(tmp_path):
    with pytest.raises(UserError, match=r"run\.profile: not set"):
        TrainedRun.of(Context(4, [f"runs_dir={tmp_path}"]), {"recipe": "placements", "arm": "low_none_b2t"})
