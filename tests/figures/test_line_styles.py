"""A placement has one colour in every figure, and no two lines of a figure look alike."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.figures.line_styles import BLUE, ORANGE, PLACEMENTS, styles_of
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.recipe import Arm


@pytest.mark.parametrize("name", recipe_names())
def test_no_two_lines_of_a_figure_are_alike(name):
    recipe = load_recipe(name)
    styles = styles_of(recipe)
    assert set(styles) == {arm.label_in_row for arm in recipe.arms.values()}
    assert len(set(styles.values())) == len(styles)


def test_pre_ln_is_blue_and_post_ln_orange_and_no_two_placements_have_one_colour():
    styles = styles_of(load_recipe("fig4ab"))
    assert styles["Pre-LN, Adam, w/o warm-up"].colour == PLACEMENTS["pre_ln"] == "#0072B2"
    assert styles["Post-LN, RAdam, w/o warm-up"].colour == PLACEMENTS["post_ln"] == "#D55E00"
    assert len({style.colour for style in styles_of(load_recipe("placements")).values()}) == 9
    assert len(set(PLACEMENTS.values())) == len(PLACEMENTS)


def test_warm_up_optimizer_and_rate_show():
    ab, a = styles_of(load_recipe("fig4ab")), styles_of(load_recipe("fig2a"))
    assert ab["Post-LN, Adam, w/o warm-up"].marker == "hollow"
    assert ab["Post-LN, Adam, with warm-up"].marker == "dot"
    assert styles_of(load_recipe("fig5"))["Post-LN w/o warm-up, η"].marker == "hollow"
    assert (ab["Pre-LN, Adam, w/o warm-up"].dash, ab["Pre-LN, RAdam, w/o warm-up"].dash) == ("-", "--")
    low, high = (a[f"with warm-up, {rate} lr_max"] for rate in ("lower", "higher"))
    assert (low.colour, low.dash) != (high.colour, high.dash)
    assert high.colour == "#EAAE80"


@given(st.lists(st.text(min_size=1, max_size=3), unique=True, min_size=1, max_size=60))
def test_arms_that_differ_in_nothing_known_are_told_apart_too(labels):
    arms = {label: Arm(label, label, ("model=mine",)) for label in labels}
    assert len(set(styles_of(replace(load_recipe("fig2a"), arms=arms)).values())) == len(labels)


def test_more_arms_than_there_are_styles_share_some():
    arms = {f"{number}": Arm(f"{number}", f"{number}", ("model=mine",)) for number in range(400)}
    styles = styles_of(replace(load_recipe("fig2a"), arms=arms))
    assert len(styles) == 400
    assert len(set(styles.values())) > 200


def test_lines_of_one_placement_that_differ_in_nothing_known_have_colours():
    styles = styles_of(load_recipe("adam_2k"))
    assert len({(style.colour, style.marker) for style in styles.values()}) == len(styles)
    assert {style.dash for style in styles.values()} == {"-"}


def test_measurements_before_training_have_the_placements_colours_too():
    styles = styles_of(load_recipe("fig3"))
    assert {styles[label].colour for label in styles if label.endswith("Post-LN")} == {PLACEMENTS["post_ln"]}
    assert {styles[label].colour for label in styles if label.endswith("Pre-LN")} == {PLACEMENTS["pre_ln"]}


def test_an_arm_that_measures_a_trained_run_looks_like_that_run():
    styles, trained = styles_of(load_recipe("linear_probes")), styles_of(load_recipe("failure"))
    assert {label: (style.colour, style.marker) for label, style in styles.items()} == {
        f"{placement} {warmup}": (colour, trained[warmup].marker)
        for placement, colour in (("Post-LN", ORANGE), ("Pre-LN", BLUE))
        for warmup in ("w/o warm-up", "with warm-up")
    }
