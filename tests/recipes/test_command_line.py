"""Recipes beside other options on a command line."""

import pytest

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.recipes.command_line import check_overrides, for_readers, own_options, split_recipes, with_corpus
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import jobs_of

FIG2A = load_recipe("fig2a")


def test_recipes_are_told_from_the_rest():
    recipes, rest = split_recipes(["+recipe=fig2a,fig4ab", "max_epoch=3", "data=toy"])
    assert [recipe.name for recipe in recipes] == ["fig2a", "fig4ab"]
    assert rest == ["max_epoch=3", "data=toy"]


def test_the_corpus_is_the_recipes_unless_said():
    assert with_corpus(FIG2A, "small", ["max_epoch=3"]) == ["data=toy", "max_epoch=3"]
    assert with_corpus(FIG2A, "paper", []) == ["data=iwslt14"]
    assert with_corpus(load_recipe("fig4cd"), "paper", []) == ["data=wmt14"]
    assert with_corpus(FIG2A, "paper", ["data=tokenized", "data.path=x"]) == ["data=tokenized", "data.path=x"]
    with pytest.raises(UserError, match="profile=papr: recipe fig2a has none; did you mean paper"):
        with_corpus(FIG2A, "papr", [])


def test_a_reader_is_told_no_place_of_ours():
    said = ["profile=small", "data=toy", "runs_dir=/x", "probes.every=3", "tracker.project=x", "n_seeds=1"]
    said += ["force=true"]
    assert own_options(FIG2A, "small", said) == []
    assert own_options(FIG2A, "small", [*said, "max_tokens=9", "data=wmt14"]) == ["max_tokens=9", "data=wmt14"]


def test_a_recipe_that_measures_without_training_is_refused():
    with pytest.raises(UserError, match=r"recipe=fig3: trains nothing; say python scripts/probe\.py"):
        check_overrides([load_recipe("fig3")], [])
