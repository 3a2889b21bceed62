"""Which runs a command line asks for."""

import pytest

from lnexp.errors import UserError
from lnexp.paths import RECIPES_DIR
from lnexp.planning.asked import asked


def test_a_claim_that_cannot_be_judged_is_refused(tmp_path):
    text = (RECIPES_DIR / "fig2a.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("success(no_warmup_low) < 0.5", "best_blue(no_warmup_low) < 0.5"))
    with pytest.raises(UserError, match=r"claim fig2a-no-warmup-fails-low: .*best_blue"):
        asked([f"+recipe={tmp_path}/mine.yaml"])


def test_arms_of_a_recipe_are_planned_as_they_are_trained():
    found = asked(["+recipe=fig2a", "arms=no_*,warmup_high", "n_seeds=2"])
    assert [arm.name for arm in found] == ["fig2a/no_warmup_low", "fig2a/no_warmup_high", "fig2a/warmup_high"]
    assert {len(set(arm.runs)) for arm in found} == {2}
    with pytest.raises(UserError, match="arms=now: recipe fig2a has no such arm"):
        asked(["+recipe=fig2a", "arms=now"])
