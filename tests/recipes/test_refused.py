"""What a recipe must not say, since it may come from others."""

import pytest

from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.refused import refuse_own_options, refuse_resolvers


@pytest.mark.parametrize(
    "said",
    [
        "${oc.env:HOME}",
        r"$\{oc.env\:HOME\}",  # Hydra takes the backslashes away
        "${${label}:HOME}",  # the name of the resolver is the value of another option
        "${scale.${oc.env:HOME}}",
        "${oc.${x}:HOME}",
    ],
)
def test_no_resolver_is_reached(said):
    with pytest.raises(ValueError, match="may refer to options"):
        refuse_resolvers({"settings": [f"+label={said}"]})


def test_a_reference_is_none():
    refuse_resolvers({"settings": ["lr_max=${scale.lr_max.low}", "x=${a}"], "title": "costs $5 {or: more}"})


@pytest.mark.parametrize(
    "said",
    [
        "hydra.launcher._target_=subprocess.Popen",
        "hydra/launcher=joblib",
        "++hydra.job_logging.handlers.x={class:subprocess.Popen,args:'touch x'}",
        " hydra.sweep.dir=x",
        "runs_dir=x",
        "++data_dir=x",
        "fairseq.common.log_file=x",
        "fairseq.common={log_file: x}",
        "fairseq.checkpoint.save_dir=x",
    ],
)
def test_places_and_launchers_are_the_command_lines(said):
    with pytest.raises(ValueError, match="say it on the command line; a recipe does not choose"):
        refuse_own_options([said])


@pytest.mark.parametrize(
    "value", ["/etc", "~/x", "../x", "a=/etc", "[x, /etc]", "{x: ../y}", "'/etc'", r"\/etc", "..", "a/../../x", "a/.."]
)
def test_no_value_is_a_path_to_elsewhere(value):
    with pytest.raises(ValueError, match="a path that leads elsewhere"):
        refuse_own_options([f"model={value}"])


def test_what_recipes_say_is_let_through():
    refuse_own_options(["lr_max=.5", "model.x=[0.9, 0.98]", "scale.toy={a: 1, b: 2}", "x=1e-3", "data=toy", "y=a/b"])
    assert all(load_recipe(name) for name in recipe_names())
