"""A label has the same style everywhere."""

from hypothesis import given
from hypothesis import strategies as st

from lnexp.figures.line_styles import styles_of
from lnexp.recipes.load import load_recipe, recipe_names


def test_an_arm_looks_the_same_in_every_recipe_and_like_no_other_beside_it():
    everywhere: dict = {}
    for name in recipe_names():
        for arms in load_recipe(name).rows.values():
            labels = [arm.label_in_row for arm in arms]
            styles = styles_of(labels)
            assert len(set(styles.values())) == len(set(labels)), name
            for label, style in styles.items():
                assert everywhere.setdefault(label, style) == style, label
    assert len({style.colour for style in everywhere.values()}) == 8


@given(st.lists(st.text(max_size=3), unique=True, max_size=30))
def test_labels_that_no_recipe_knows_are_told_apart_too(labels):
    assert len(set(styles_of(labels).values())) == len(labels)
