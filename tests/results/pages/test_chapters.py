"""Every published result stands on one page."""

import pytest

from lnexp.errors import UserError
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.results.pages.chapters import CHAPTERS, chapter_of, published_chapters

DECLARED = [
    f"{profile}/{setting.data}/{recipe.name}"
    for recipe in map(load_recipe, recipe_names())
    for profile, setting in recipe.profiles.items()
]


@pytest.mark.parametrize("place", DECLARED)
def test_what_a_recipe_can_be_run_as_has_a_page(place):
    (chapter,) = (one for one in published_chapters([place]) if one.places)
    assert chapter.places == (place,)


def test_no_place_is_listed_twice():
    listed = [place for chapter in CHAPTERS for place in chapter.places]
    assert len(listed) == len(set(listed))


def test_what_is_not_listed_comes_last():
    places = ["small/mine/fig2a", "small/toy/factorial", "small/toy/placement_decoupled"]
    (controls,) = (one for one in published_chapters(places) if one.places)
    assert controls.name == "controls"
    assert controls.places == ("small/toy/placement_decoupled", "small/toy/factorial", "small/mine/fig2a")


def test_a_place_without_a_page_is_refused():
    with pytest.raises(UserError, match="mine/toy/fig2a: on no page"):
        chapter_of("mine/toy/fig2a")
