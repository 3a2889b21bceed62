"""Texts of recipes lead to the results of the recipes that they name."""

import pytest

from lnexp.results.pages.sections import with_links

SECTIONS = {place: f"page.md#{place}" for place in ("small/toy/fig2a", "medium/multi30k/fig2a", "small/toy/map")}


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("As in fig2a.", "As in [fig2a](page.md#medium/multi30k/fig2a)."),
        ("recipe map, fig2a", "recipe [map](page.md#small/toy/map), [fig2a](page.md#medium/multi30k/fig2a)"),
        ("a map of fig2a-no-warmup-fails-low", "a map of fig2a-no-warmup-fails-low"),
        ("radam_parts, not published", "radam_parts, not published"),
        ("fig4ab is its own", "fig4ab is its own"),
        ("Recipe map. At profile small fig2a.", "Recipe [map](page.md#small/toy/map). At profile small fig2a."),
    ],
)
def test_names_of_recipes_lead_to_their_results(text, linked):
    assert with_links(text, "medium/multi30k/fig4ab", SECTIONS | {"medium/multi30k/fig4ab": "here"}) == linked
