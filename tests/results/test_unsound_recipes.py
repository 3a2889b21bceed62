"""A recipe that cannot be read, or with a claim that cannot be judged, is named, and the others are judged."""

import shutil

import pytest

from lnexp.errors import UserError
from lnexp.paths import RECIPES_DIR
from lnexp.recipes.load import load_recipe
from lnexp.results.judging.questions import check_claims
from lnexp.results.judging.verdicts import not_run, sound_recipes

BAD = {
    "measure": ("success(no_warmup_low) < 0.5", "best_blue(no_warmup_low) < 0.5"),
    "arm": ("success(no_warmup_low) < 0.5", "success(no_warmup_lower) < 0.5"),
    "field": ("figure: ", "figures: "),
    "yaml": ("title: ", "title: ["),
}


@pytest.fixture
def recipes(tmp_path, monkeypatch):
    """A folder of recipes: fig2a as it is, and bad copies of it."""
    monkeypatch.setattr("lnexp.recipes.load.RECIPES_DIR", tmp_path)
    shutil.copy(RECIPES_DIR / "fig2a.yaml", tmp_path)
    text = (RECIPES_DIR / "fig2a.yaml").read_text()
    for name, (old, new) in BAD.items():
        (tmp_path / f"bad_{name}.yaml").write_text(text.replace(old, new, 1))
    return tmp_path


def test_each_is_named_with_the_reason(recipes):
    problems = {problem.split(":")[0].removeprefix("recipe "): problem for problem in sound_recipes()[1]}
    assert set(problems) == {f"bad_{name}" for name in BAD}
    assert "best_blue" in problems["bad_measure"]
    assert "no_warmup_lower" in problems["bad_arm"]
    assert all("\n" not in problem for problem in problems.values())


def test_the_others_are_listed_as_not_run(recipes, tmp_path):
    sound, _ = sound_recipes()
    assert {one.recipe for one in not_run(tmp_path / "results", [], sound)} == {"fig2a"}


def test_those_that_are_asked_for_alone_are_read(recipes):
    assert sound_recipes(["fig2a"])[1] == []
    assert sound_recipes(["bad_arm", "elsewhere"])[0] == []
    assert len(sound_recipes(["bad_arm", "elsewhere"])[1]) == 1


@pytest.mark.parametrize("name", ["measure", "arm"])
def test_claims_are_refused_before_runs(recipes, name):
    with pytest.raises(UserError, match="claim fig2a-no-warmup-fails-low"):
        check_claims(load_recipe(f"bad_{name}"))
