"""A recipe file becomes arms and claims, or a clear refusal."""

import pytest
import yaml

from lnexp.errors import UserError
from lnexp.recipes import load
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe, recipe_of_results

CONTENT = {
    "title": "A title",
    "figure": "Fig. X",
    "source": "somewhere",
    "reading": "decoupled",
    "settings": ["model=pre_ln"],
    "profiles": {"small": {"data": "toy"}, "paper": {"data": "iwslt14", "settings": ["max_tokens=8192"]}},
    "first_seed": 11,
    "n_seeds": 3,
    "arms": {"one": {"label": "One", "overrides": ["lr_max=1"]}},
    "claims": [
        {
            "id": "x",
            "source": "s",
            "paper": {},
            "scope": "relative",
            "holds_if": "best_bleu(one) > 1",
            "why": "w",
            "registered": "before",
            "since": "1234abc",
        }
    ],
}


def claims_with(**changes):
    return [CONTENT["claims"][0] | changes]


def claims_without(left_out):
    return [{key: said for key, said in CONTENT["claims"][0].items() if key != left_out}]


MANY_AXES = {f"a{number}": {str(value): {"label": "x", "overrides": []} for value in range(9)} for number in range(9)}

#: Of recipes that are trained, and that are measured without training.
HASHES = {"fig2a": "dab5c377", "fig3": "68f65ea7", "fig3_warmup": "11b93920", "theory_lemma1": "3ef92d4b"}


@pytest.fixture
def recipe_of(tmp_path, monkeypatch):
    """Loads the content above with changes."""
    monkeypatch.setattr(load, "RECIPES_DIR", tmp_path)

    def write(name="x", without=(), **changes):
        content = {key: value for key, value in (CONTENT | changes).items() if key not in without}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_recipe(name)

    return write


def test_arms_settings_and_claims_are_read(recipe_of):
    recipe = recipe_of()
    assert recipe.arms["one"].overrides == ("lr_max=1",)
    assert recipe.profiles["paper"].overrides == ("max_tokens=8192",)
    assert recipe.profiles["small"].overrides == ()
    assert recipe.claims[0].holds_if == "best_bleu(one) > 1"


@pytest.mark.parametrize("said", ["${oc.env:HOME}", "${scale.${oc.env:HOME}}", "${lnexp.file_sha256:/etc/passwd}"])
def test_a_recipe_reads_nothing_but_options(recipe_of, said):
    arms = {"one": {"label": "One", "overrides": [f"+data.text.note={said}"]}}
    with pytest.raises(UserError, match=r"a recipe may refer to options, as .* and to nothing else"):
        recipe_of(arms=arms)
    assert recipe_of(settings=["lr_max=${scale.lr_max.low}"]).settings == ("lr_max=${scale.lr_max.low}",)


def test_axes_make_every_combination(recipe_of):
    axes = {
        "placement": {name: {"label": name.upper(), "overrides": [f"model={name}"]} for name in ("post", "pre")},
        "lr_max": {name: {"label": name.upper(), "overrides": [f"lr_max={name}"]} for name in ("low", "high")},
    }
    recipe = recipe_of(without=["arms"], axes=axes, rows=["placement"])
    assert list(recipe.arms) == ["post_low", "post_high", "pre_low", "pre_high"]
    arm = recipe.arms["pre_low"]
    assert (arm.label, arm.row, arm.overrides) == ("PRE, LOW", "PRE", ("model=pre", "lr_max=low"))
    with pytest.raises(UserError, match="rows: must be the first of the axes"):
        recipe_of(without=["arms"], axes=axes, rows=["lr_max"])
    for axis, name in (("placement", "post_low"), ("lr_max", "low_low")):
        axes[axis][name] = {"label": "MORE", "overrides": []}
    with pytest.raises(UserError, match="two combinations are named post_low_low"):
        recipe_of(without=["arms"], axes=axes, rows=["placement"])


def test_an_axis_of_another_recipe_can_be_taken(recipe_of):
    placement = {name: {"label": name.upper(), "overrides": [f"model={name}"]} for name in ("post", "pre")}
    recipe_of("first", without=["arms"], axes={"placement": placement}, rows=[])
    depth = {"d6": {"label": "6-6", "overrides": ["depth=6"]}}
    arm = recipe_of("second", without=["arms"], axes={"depth": depth, "placement": "first"}, rows=[]).arms["d6_pre"]
    assert arm.overrides == ("depth=6", "model=pre")
    assert arm.values == {"depth": "6-6", "placement": "PRE"}
    with pytest.raises(UserError, match="recipe=nothing: no such recipe"):
        recipe_of("third", without=["arms"], axes={"placement": "nothing"}, rows=[])


def test_outcomes_are_of_the_recipes_axes(recipe_of):
    axes = {name: {value: {"label": value, "overrides": []} for value in (f"{name}1", f"{name}2")} for name in "abc"}
    outcomes = {"rows": "a", "columns": "b", "over": "c"}
    assert recipe_of(without=["arms"], axes=axes, rows=[], outcomes=outcomes).outcomes == outcomes
    for wrong in ({"rows": "a", "columns": "b"}, outcomes | {"over": "d"}, outcomes | {"over": "b"}):
        with pytest.raises(UserError, match="outcomes: must name each of the axes a, b, c"):
            recipe_of(without=["arms"], axes=axes, rows=[], outcomes=wrong)
    del axes["c"]["c2"]
    with pytest.raises(UserError, match="c must have two values"):
        recipe_of(without=["arms"], axes=axes, rows=[], outcomes=outcomes)


def test_a_key_that_is_there_twice_is_named(recipe_of, tmp_path):
    recipe_of()
    with (tmp_path / "x.yaml").open("a") as file:
        file.write("n_seeds: 1\n")
    with pytest.raises(UserError, match=r"x\.yaml: not a recipe \(YAMLError: the key 'n_seeds' twice\)"):
        load_recipe("x")


def test_the_arms_of_another_recipe_can_be_taken(recipe_of):
    recipe_of("first")
    assert recipe_of("second", arms="first").arms == load_recipe("first").arms


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"without": ["claims"]}, "not a recipe .*claims"),
        ({"without": ["arms"]}, "not a recipe .*arms"),
        ({"arms": {"one": {"label": "One"}}}, "not a recipe .*overrides"),
        ({"profiles": {"small": {}}}, "not a recipe .*data"),
        ({"claims": claims_without("since")}, r"not a recipe .*claims does not have since\)"),
        ({"frist_seed": 1}, r"not a recipe .*it: frist_seed: no such key; did you mean first_seed"),
        ({"profiles": {"small": {"data": "toy", "setings": []}}}, "not a recipe .*profiles: setings: no such key; "),
        ({"baselines": ["none"]}, "baselines: none is no arm of the recipe"),
        ({"claims": claims_with(implied_by="y")}, "claim x: implied_by: y is no other claim of the recipe"),
        ({"claims": claims_with(implied_by="x")}, "claim x: implied_by: x is no other claim of the recipe"),
        ({"claims": claims_with(restates="y")}, "claim x: restates: y is no other claim of the recipe"),
        ({"claims": claims_with(check="yes")}, "not a recipe .*check is str"),
        ({"surprise": 1}, "not a recipe .*surprise"),
        ({"title": ["x"]}, "not a recipe .*title is list"),
        ({"n_seeds": "3"}, "not a recipe .*n_seeds is str"),
        ({"n_seeds": 0}, "not a recipe .*n_seeds: must be at least 1"),
        ({"n_seeds": 10**9}, "not a recipe .*n_seeds: must be at most 10,000"),
        ({"profiles": {"small": {"data": "toy", "n_seeds": 10**9}}}, "not a recipe .*n_seeds: must be at most 10,000"),
        ({"settings": "model=pre_ln"}, "not a recipe .*settings is str"),
        ({"settings": [{"model": "pre_ln"}]}, "not a recipe .*settings is dict"),
        ({"profiles": {"small": {"data": 5}}}, "not a recipe .*data is int"),
        ({"profiles": {"small": {"data": "../../x"}}}, r"not a recipe .*data=\.\./\.\./x: a path that leads elsewhere"),
        (
            {"profiles": {"small": {"data": "toy", "settings": ["runs_dir=x"]}}},
            "runs_dir=x: say it on the command line",
        ),
        (
            {"profiles": {"small": {"data": "toy", "corpus": ["data=../x"]}}},
            r"data=\.\./x: a path that leads elsewhere",
        ),
        ({"arms": {"one": {"label": "One", "overrides": ["hydra.x=1"]}}}, "hydra.x=1: say it on the command line"),
        ({"profiles": {"../small": {"data": "toy"}}}, r"not a recipe .*profiles: \.\./small: a name has letters"),
        ({"arms": {"../x": CONTENT["arms"]["one"]}}, r"not a recipe .*arms: \.\./x: a name has letters"),
        ({"arms": {1: CONTENT["arms"]["one"]}}, "not a recipe .*a key that is no text"),
        ({"arms": {"one": {"label": 1, "overrides": []}}}, "not a recipe .*label is int"),
        ({"arms": {"1e-3": CONTENT["arms"]["one"]}}, "arms: 1e-3: the name of an arm must be text, as x1e-3"),
        ({"arms": {"Null": CONTENT["arms"]["one"]}}, "arms: Null: the name of an arm must be text"),
        ({"arms": {"1e-3_6": CONTENT["arms"]["one"]}}, "arms: 1e-3_6: the name of an arm must be text"),
        ({"measurement": "lemma1"}, "not a recipe .*plot .*x, y"),
        ({"measurement": "lemma1", "plot": {"x": "a", "y": "b", "xlabel": "c"}}, "not a recipe .*plot.*xlabel"),
        ({"claims": [CONTENT["claims"][0] | {"paper": {"one": float("inf")}}]}, "not a recipe .*not finite"),
        ({"claims": [CONTENT["claims"][0] | {"holds_if": 1}]}, "not a recipe .*holds_if is int"),
        ({"success": 0.5}, "not a recipe .*success is float"),
        ({"without": ["arms"], "axes": MANY_AXES, "rows": ["a0"]}, "not a recipe .*more than 10,000 combinations"),
        ({"arms": "nowhere"}, "recipe=nowhere: no such recipe"),
        ({"arms": {}}, "not a recipe .*arms: there must be one at least"),
        ({"without": ["arms"], "axes": {}, "rows": []}, "not a recipe .*arms: there must be one at least"),
        ({"without": ["arms"], "axes": {"a": {}}, "rows": []}, "not a recipe .*arms: there must be one at least"),
        ({"first_seed": -5}, "not a recipe .*first_seed: must be at least 0"),
        ({"claims": [*claims_with(paper={}), *claims_with(paper={})]}, "not a recipe .*claims: the key 'x' twice"),
        ({"more_plots": {"../x": {"x": "a", "y": "b"}}}, r"not a recipe .*more_plots: \.\./x: a name has letters"),
        ({"more_plots": {"/tmp/x": {"x": "a", "y": "b"}}}, "not a recipe .*more_plots: /tmp/x: a name has letters"),
        (
            {"more_plots": {"figure": {"x": "a", "y": "b"}}},
            "not a recipe .*more_plots: figure: is the name of the first plot",
        ),
    ],
)
def test_what_is_no_recipe_is_refused(recipe_of, changes, message):
    with pytest.raises(UserError, match=message):
        recipe_of(**changes)


@pytest.mark.parametrize(("key", "words"), [("implied_by", "implied by"), ("restates", "restates")])
def test_a_claim_can_leave_it_to_another_one_to_count(recipe_of, key, words):
    (counted,) = claims_with(id="counted", holds_if="best_bleu(one) > 2")
    (other,) = claims_with(id="other", paper={}, **{key: "counted"})
    claims = {claim.id: claim for claim in recipe_of(claims=[other, counted]).claims}
    assert (claims["other"].counts, claims["counted"].counts) == (False, True)
    assert claims["other"].standing == f"registered before the runs (1234abc), {words} counted"
    with pytest.raises(UserError, match=f"third: {key}: other is no other claim that is implied by none and restates"):
        recipe_of(claims=[other, counted, *claims_with(id="third", paper={}, **{key: "other"})])
    with pytest.raises(UserError, match=f"other: {key}: counted is no other claim that"):
        recipe_of(claims=[other, *claims_with(id="counted", check=True, paper={})])


def test_a_check_does_not_count(recipe_of):
    (claim,) = recipe_of(claims=claims_with(check=True)).claims
    assert not claim.counts
    assert claim.standing == "registered before the runs (1234abc), a check"


def test_what_was_known_of_a_profile_follows_what_was_known_of_all(recipe_of):
    recipe = recipe_of(
        known="Seed 1.\n",
        doubt="It is small.",
        profiles={"small": {"data": "toy", "known": "Seed 2."}, "paper": {"data": "wmt14"}},
    )
    assert recipe.known_at("small") == "Seed 1. Seed 2."
    assert recipe.known_at("paper") == "Seed 1."
    assert recipe.doubt_at("small") == "It is small."


def test_letters_that_a_terminal_would_obey_are_escaped(recipe_of):
    assert recipe_of(title="\x1b[2J").title == r"\x1b[2J"


def test_a_folder_of_results_names_a_recipe_and_no_path(tmp_path):
    with pytest.raises(UserError, match="is no recipe's name"):
        recipe_of_results(tmp_path, "../elsewhere")


def test_a_task_is_part_of_the_jobs_and_of_the_hash_where_it_is_not_translation(recipe_of):
    plain, said, other = recipe_of(), recipe_of(task="translation"), recipe_of(task="masked_lm")
    hashes = [recipe.settings_hash("small") for recipe in (plain, said, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    arm = plain.arms["one"]
    assert Job(said, "small", arm, 1).overrides == Job(plain, "small", arm, 1).overrides
    assert Job(other, "small", arm, 1).overrides == ["task=masked_lm", *Job(plain, "small", arm, 1).overrides]


def test_settings_hashes_stay_what_they_were():
    """Committed results carry them."""
    profiles = {"fig2a": "small", "fig3": "theory", "fig3_warmup": "small", "theory_lemma1": "theory"}
    hashes = {name: load_recipe(name).settings_hash(profile) for name, profile in profiles.items()}
    assert hashes == HASHES


@pytest.fixture
def own(tmp_path):
    """Writes a recipe outside of the project, and returns its path."""

    def write(name="mine", **changes):
        path = tmp_path / "elsewhere" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(CONTENT | changes, sort_keys=False))
        return path

    return write


def test_a_recipe_may_lie_anywhere(own):
    path = own()
    recipe = load_recipe(str(path))
    assert (recipe.name, recipe.file, recipe.reference) == ("mine", path, str(path))
    assert load_recipe("fig2a").file is None
    assert load_recipe("recipes/fig2a.yaml") == load_recipe("fig2a")


@pytest.mark.parametrize("name", ["fig2a", "adhoc", "a name"])
def test_its_name_is_its_own(own, name):
    with pytest.raises(UserError, match=r"is taken|becomes a folder"):
        load_recipe(str(own(name)))


def test_what_it_takes_from_others_lies_beside_it_or_in_the_project(own):
    own("first")
    variant = {"of": "first.yaml", "suffix": "more", "since": "1234abc", "adding": ["max_epoch=2"]}
    path = own().parent / "second.yaml"
    path.write_text(yaml.safe_dump({"variant": variant}))
    assert load_recipe(str(path)).settings == ("model=pre_ln", "max_epoch=2")
    assert load_recipe(str(own("third", arms="second.yaml"))).arms.keys() == {"one"}
    assert load_recipe(str(own("fourth", arms="fig2a"))).arms == load_recipe("fig2a").arms
    with pytest.raises(UserError, match=r"recipe=nowhere.yaml: no such file"):
        load_recipe(str(own("fifth", arms="nowhere.yaml")))


def test_results_have_a_copy_that_stands_for_it(own, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    own("first")
    path = own("second", arms="first.yaml")
    recipe = load_recipe(str(path))
    load.write_copy(recipe, results)
    path.unlink()
    copy = load.recipe_of_results(results, "second")
    assert (copy.name, copy.arms, copy.claims) == ("second", recipe.arms, recipe.claims)
    assert copy.settings_hash("small") == recipe.settings_hash("small")
    load.write_copy(load_recipe("fig2a"), tmp_path)
    assert not (tmp_path / "recipe.yaml").exists()
    assert load.recipe_of_results(tmp_path, "fig2a") == load_recipe("fig2a")


def test_the_options_of_a_corpus_are_a_corpus_and_count(own):
    said = {"data": "plain", "corpus": ["data.path=text", "data.name=mine"]}
    recipe = load_recipe(str(own(profiles={"small": said})))
    assert recipe.profiles["small"].corpus == ("data.path=text", "data.name=mine")
    other = load_recipe(str(own("other", profiles={"small": said | {"corpus": ["data.path=text"]}})))
    assert recipe.settings_hash("small") != other.settings_hash("small")
    with pytest.raises(UserError, match="lr_max=1: no option of a corpus"):
        load_recipe(str(own("wrong", profiles={"small": said | {"corpus": ["lr_max=1"]}})))
    with pytest.raises(UserError, match=r"not a recipe .*epochs"):
        load_recipe(str(own("wrong", profiles={"small": said | {"epochs": 1}})))
