"""Recipes beside other options on a command line."""

import shutil
from dataclasses import replace

import pytest

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.overrides import quote
from lnexp.paths import ROOT
from lnexp.recipes.command_line import check_overrides, for_readers, own_options, split_recipes, with_corpus
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Setting

FIG2A = load_recipe("fig2a")


def test_recipes_are_told_from_the_rest():
    recipes, rest = split_recipes(["+recipe=fig2a,fig4ab", "max_epoch=3", "data=toy"])
    assert [recipe.name for recipe in recipes] == ["fig2a", "fig4ab"]
    assert rest == ["max_epoch=3", "data=toy"]


def test_a_recipe_of_ones_own_may_stand_beside_others(tmp_path):
    (folder := tmp_path / "it's, ours").mkdir()
    own = [folder / "one.yaml", folder / "another.yaml"]
    for path in own:
        shutil.copy(ROOT / "recipes" / "fig2a.yaml", path)
    said = ",".join([*(quote(str(path)) for path in own), "fig4ab"])
    recipes, _ = split_recipes([f"+recipe={said}"])
    assert [recipe.reference for recipe in recipes] == [*map(str, own), "fig4ab"]


def test_two_recipes_of_one_name_are_refused(tmp_path):
    for name in ("v1", "v2"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / "recipes" / "fig2a.yaml", tmp_path / name / "own.yaml")
    with pytest.raises(UserError, match="2 are named own, and have one folder"):
        split_recipes([f"+recipe={tmp_path}/v1/own.yaml,{tmp_path}/v2/own.yaml"])


def test_the_task_of_a_recipe_is_its_own():
    with pytest.raises(UserError, match="task=masked_lm: recipe fig2a sets task itself"):
        check_overrides([FIG2A], ["task=masked_lm"])
    check_overrides([FIG2A], ["task=translation"])


def test_the_corpus_is_the_recipes_unless_said():
    assert with_corpus(FIG2A, "small", ["max_epoch=3"]) == ["data=toy", "max_epoch=3"]
    assert with_corpus(FIG2A, "paper", []) == ["data=iwslt14"]
    assert with_corpus(load_recipe("fig4cd"), "paper", []) == ["data=wmt14"]
    assert with_corpus(FIG2A, "paper", ["data=tokenized", "data.path=x"]) == ["data=tokenized", "data.path=x"]
    with pytest.raises(UserError, match="profile=papr: recipe fig2a has none; did you mean paper"):
        with_corpus(FIG2A, "papr", [])


def test_a_reader_is_told_no_place_of_ours():
    said = [
        "data=tokenized",
        "data.path=/home/us/text",
        "+data.subword.model=/home/us/bpe.model",
        "runs_dir=/home/us/runs",
        "++data_dir=/home/us/data",
        "data.text.downloads.base_url=https://example.org",
        "max_epoch=3",
    ]
    assert for_readers(said) == [
        "data=tokenized",
        "data.path=PATH",
        "+data.subword.model=PATH",
        "data.text.downloads.base_url=https://example.org",
        "max_epoch=3",
    ]


def test_seeds_are_the_recipes_unless_said():
    assert {job.seed for job in jobs_of(FIG2A, compose([]))} == set(range(101, 111))
    assert sorted({job.seed for job in jobs_of(FIG2A, compose(["first_seed=5", "n_seeds=2"]))}) == [5, 6]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("arms=warmup_*", ["warmup_low", "warmup_high"]),
        ("arms=warmup_high,no_warmup_low", ["no_warmup_low", "warmup_high"]),
        ("arms=[*_low]", ["no_warmup_low", "warmup_low"]),
        ("arms=null", list(FIG2A.arms)),
    ],
)
def test_arms_are_chosen_by_names_and_patterns(said, names):
    jobs = jobs_of(FIG2A, compose([said, "n_seeds=1"]))
    assert [job.arm.name for job in jobs] == names
    check_overrides([FIG2A], [said])
    assert own_options(FIG2A, "small", [said]) == [], "the arms stay what they are"


def test_a_pattern_that_matches_no_arm_is_refused():
    with pytest.raises(UserError, match=r"arms=warm_\*: recipe fig2a has no such arm; did you mean"):
        jobs_of(FIG2A, compose(["arms=warmup_low,warm_*"]))


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (["lr_max=1"], "lr_max=1: recipe fig2a sets lr_max itself"),
        (["seed=1"], "say first_seed=… and n_seeds=…"),
        (["max_epoch=1,2"], "max_epoch=1,2: a recipe sweeps its own arms"),
        (["fairseq.optimization.lr=[1]"], "lr_max=1: recipe fig2a sets lr_max itself"),
        (["lr_schedule.warmup_updates=1"], "warmup_updates=1: recipe fig2a sets warmup_updates itself"),
        (["model._name=lnexp_pre_ln"], "model._name=lnexp_pre_ln: recipe fig2a sets model itself"),
        (["fairseq.optimizer._name=sgd"], "recipe fig2a sets optimizer itself"),
    ],
)
def test_what_makes_an_arm_is_not_to_be_changed(rest, message):
    with pytest.raises(UserError, match=message):
        check_overrides([FIG2A], rest)
    check_overrides([FIG2A], ["max_epoch=1", "data=toy"])


def test_a_recipe_that_ends_by_updates_sets_max_update():
    with pytest.raises(UserError, match="recipe fig3_warmup sets max_update itself"):
        check_overrides([load_recipe("fig3_warmup")], ["max_update=3"])


def test_options_that_leave_the_arms_what_they_are_are_not_the_users_own():
    said = ["profile=small", "data=toy", "runs_dir=/x", "probes.every=3", "tracker.project=x", "n_seeds=1"]
    said += ["force=true", "device=cpu", "threads=2", "++tracker=none", "fairseq.dataset.num_workers=2"]
    assert own_options(FIG2A, "small", said) == []
    own = ["max_tokens=9", "data=wmt14", "data.name=x", "data.path=/x", "scale.toy.train_pairs=9", "scale.lr_max.low=1"]
    assert own_options(FIG2A, "small", [*said, *own]) == own


def test_a_recipe_that_measures_without_training_is_refused():
    with pytest.raises(UserError, match=r"recipe=fig3: trains nothing; say python scripts/probe\.py"):
        check_overrides([load_recipe("fig3")], [])


def test_the_corpus_of_a_recipe_of_ones_own_lies_beside_it(tmp_path):
    profile = Setting("plain", corpus=("data.path=text", "data.name=mine"))
    recipe = replace(FIG2A, file=tmp_path / "mine.yaml", profiles={"small": profile})
    own = ["data=plain", f"data.path='{tmp_path / 'text'}'", "data.name=mine"]
    assert with_corpus(recipe, "small", []) == own
    assert with_corpus(recipe, "small", ["data.path=there"]) == [*own, "data.path=there"], "the last one counts"
    assert with_corpus(recipe, "small", ["data=toy"]) == ["data=toy"]


@pytest.mark.parametrize(
    ("path", "said"), [("text", "{}/text"), ("'my text'", "{}/my text"), ("/there", "/there"), ("null", None)]
)
def test_a_path_beside_a_recipe_may_have_any_letters(tmp_path, path, said):
    folder = tmp_path / "jürgen (1), π"
    profile = Setting("plain", corpus=(f"data.path={path}", "data.name=mine"))
    recipe = replace(FIG2A, file=folder / "mine.yaml", profiles={"small": profile})
    expected = None if said is None else said.format(folder)
    assert compose(with_corpus(recipe, "small", [])).data.path == expected
