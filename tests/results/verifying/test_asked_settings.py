"""The settings that overrides state are found without composing a config."""

import pytest
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.plain import plain
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.results.verifying.asked_settings import asked_settings
from lnexp.results.verifying.stated_by_settings import FILES
from lnexp.runs.identity import short_name

pytestmark = pytest.mark.slow


def _jobs(profile):
    recipes = [load_recipe(name) for name in recipe_names()]
    return [
        Job(recipe, profile, arm, 7)
        for recipe in recipes
        if not recipe.measurement and profile in recipe.profiles
        for arm in list(recipe.arms.values())[:2]
    ]


@pytest.mark.parametrize("profile", ["small", "paper"])
def test_they_are_those_of_the_composed_config(profile):
    for job in _jobs(profile):
        overrides = [f"profile={profile}", f"data={job.recipe.setting_at(profile).data}", *job.overrides]
        config, asked = compose(overrides), asked_settings(tuple(overrides), profile)
        assert {"model._name", "optimizer._name", "lr_schedule._name", "lr_max", "warmup_updates", "seed"} <= set(asked)
        for name, value in asked.items():
            found = OmegaConf.select(config, name)
            found = plain(found) if OmegaConf.is_config(found) else found
            if name.removesuffix("._name") in FILES:
                assert value == short_name(found), (job.recipe.name, name)
            elif not name.endswith("._name"):
                assert value == found, (job.recipe.name, name)


def test_an_override_may_change_what_another_refers_to():
    overrides = ("scale.lr_max=${scale.sgd_lr_max}", "lr_max=${scale.lr_max.low}")
    assert asked_settings(overrides, "small")["lr_max"] == compose(["profile=small"]).scale.sgd_lr_max.low
    assert asked_settings(overrides[1:], "small")["lr_max"] == compose(["profile=small"]).scale.lr_max.low


def test_what_is_taken_from_elsewhere_is_left_out():
    assert asked_settings(("max_update=${warmup_updates}", "warmup_updates=3"), "small") == {"warmup_updates": 3}


@pytest.mark.parametrize("override", ["lr_max=${oc.env:HOME}", "lr_max=1,2", "lr_max=[1", "lr_max=${scale.lr_max"])
def test_what_is_no_override_of_one_value_is_refused(override):
    with pytest.raises(ValueError, match=r"override|may refer to options"):
        asked_settings((override,), "small")
