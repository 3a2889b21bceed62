"""The schema of a recipe's file is what the code says of it."""

import yaml

from lnexp.paths import RECIPES_DIR
from lnexp.recipes.schema import schema


def test_every_key_of_every_recipe_is_described():
    known = schema()
    for path in RECIPES_DIR.glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        assert content.keys() <= known["the file"].keys() | {"variant", "axes", "rows"}, path
        for profile in content.get("profiles", {}).values():
            assert profile.keys() <= known["a profile"].keys(), path
        for claim in content.get("claims", []):
            assert claim.keys() <= known["a claim"].keys(), path


def test_every_key_has_words_and_none_is_an_attribute_of_the_code_alone():
    known = schema()
    assert all(text for keys in known.values() for text in keys.values())
    assert {"settings", "data", "corpus", "first_seed", "n_seeds", "known", "doubt"} == known["a profile"].keys()
    assert known["a claim"]["since"] == "the commit that added it. Required."
    assert "Required" not in known["a claim"]["check"]
    assert not {"file", "name"} & known["the file"].keys()
