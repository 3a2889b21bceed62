"""A variant is another recipe with some of its overrides replaced, and its claims under other names."""

import pytest
import yaml

from lnexp.errors import UserError
from lnexp.recipes.load import load_recipe
from lnexp.recipes.variant import Variant

BASE = {
    "settings": ["a=1", "b=1"],
    "arms": {"one": {"label": "a=1", "overrides": ["b=1", "c=1"]}},
    "axes": {"x": {"low": {"label": "low", "overrides": ["a=1"]}}},
    "claims": [{"id": "x", "since": "old", "why": "because", "holds_if": "best_bleu(one) > 1"}],
}


def test_overrides_are_replaced_wherever_they_are():
    made = Variant("base", "two", "new", replacing={"a=1": "a=2", "c=1": "c=2"}, adding=["d=1"]).applied(BASE)
    assert made["settings"] == ["a=2", "b=1", "d=1"]
    assert made["arms"] == {"one": {"label": "a=1", "overrides": ["b=1", "c=2"]}}
    assert made["axes"]["x"]["low"]["overrides"] == ["a=2"]
    assert BASE["settings"] == ["a=1", "b=1"], "the other recipe stays what it is"


def test_claims_have_names_and_a_commit_of_their_own():
    (claim,) = Variant("base", "two", "new").applied(BASE)["claims"]
    assert claim == {"id": "x-two", "since": "new", "why": "The test of x.", "holds_if": "best_bleu(one) > 1"}


@pytest.mark.parametrize("key", ["implied_by", "restates"])
def test_a_claim_names_that_of_the_variant(key):
    claims = [BASE["claims"][0], BASE["claims"][0] | {"id": "weak", key: "x"}]
    made = Variant("base", "two", "new").applied(BASE | {"claims": claims})["claims"]
    assert [claim.get(key) for claim in made] == [None, "x-two"]


def test_a_claim_that_the_other_recipe_got_later_has_that_commit():
    (claim,) = Variant("base", "two", "new", later={"x": "newest"}).applied(BASE)["claims"]
    assert claim["since"] == "newest"
    with pytest.raises(ValueError, match="y: not a claim of recipe base"):
        Variant("base", "two", "new", later={"y": "newest"}).applied(BASE)


def test_what_is_nowhere_cannot_be_replaced():
    with pytest.raises(ValueError, match="e=1: not in recipe base"):
        Variant("base", "two", "new", replacing={"e=1": "e=2"}).applied(BASE)


def test_a_variant_can_have_some_of_the_profiles():
    base = BASE | {"profiles": {"small": {"data": "toy"}, "paper": {"data": "wmt14", "settings": ["a=1"]}}}
    variant = Variant("base", "two", "new", replacing={"a=1": "a=2"}, profiles=["paper"])
    assert variant.applied(base)["profiles"] == {"paper": {"data": "wmt14", "settings": ["a=2"]}}
    assert Variant("base", "two", "new").applied(base)["profiles"].keys() == {"small", "paper"}
    with pytest.raises(ValueError, match="medium: no profile of recipe base"):
        Variant("base", "two", "new", profiles=["medium"]).applied(base)


def test_the_coupled_reading_has_every_arm_and_claim_of_the_other():
    decoupled, coupled = load_recipe("fig4ab"), load_recipe("fig4ab_coupled")
    assert coupled.title != decoupled.title
    assert list(coupled.arms) == list(decoupled.arms)
    assert [claim.id for claim in coupled.claims] == [f"{claim.id}-coupled" for claim in decoupled.claims]
    assert [claim.holds_if for claim in coupled.claims] == [claim.holds_if for claim in decoupled.claims]
    changed = {name for name, arm in coupled.arms.items() if arm.overrides != decoupled.arms[name].overrides}
    assert changed == {"post_ln_adam", "post_ln_adam_warmup"}
    assert coupled.settings_hash("small") != decoupled.settings_hash("small")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"adding": "run=1"}, "not a recipe .*adding is str"),
        ({"later": ["a"]}, "not a recipe .*later is list"),
        ({"sufix": "b"}, "not a recipe .*sufix"),
    ],
)
def test_a_variant_of_another_form_is_refused(tmp_path, said, message):
    path = tmp_path / "mine.yaml"
    variant = {"of": "fig2a", "suffix": "mine", "since": "1234abc", "replacing": {}} | said
    path.write_text(yaml.safe_dump({"title": "Mine", "figure": "x", "variant": variant}))
    with pytest.raises(UserError, match=message):
        load_recipe(str(path))
