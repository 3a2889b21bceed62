"""A claim counts as registered before the runs where the code that made them had it."""

import subprocess
from dataclasses import replace
from functools import cache

import pytest
import yaml

from lnexp.numerics import NUMERICS
from lnexp.paths import RECIPES_DIR, ROOT
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.result_tables import result_folders
from lnexp.results.evidence.provenance import commits_of, read_provenance
from lnexp.results.judging import history
from lnexp.results.judging.questions import form_of
from lnexp.results.judging.registration import registered
from lnexp.results.judging.verdict_file import read_verdicts

OLD, NEW = "62cfe4c", "832989b"


@pytest.fixture
def claim(make_run):
    return make_run.recipe.claims[0]


@pytest.mark.parametrize(
    ("since", "commits", "expected"),
    [
        (OLD, [NEW], "before"),
        (OLD, [OLD], "before"),
        (OLD, [], "before"),
        (NEW, [NEW], "before"),
        (NEW, [OLD], "after"),
        (NEW, [NEW, OLD], "after"),
        ("not-a-commit", [NEW], "after"),
        (NEW, ["0" * 40], "after"),
    ],
)
def test_runs_of_code_without_the_claim_are_older_than_it(claim, since, commits, expected):
    assert registered(replace(claim, since=since), commits) == expected


def test_results_that_name_no_commit_are_as_old_as_their_numerics(claim):
    unknown = {"git": {"commit": None, "dirty": None}}
    assert registered(replace(claim, since=NEW), commits_of([unknown])) == "after"
    assert registered(replace(claim, since=OLD), commits_of([unknown])) == "before"
    assert registered(replace(claim, since=OLD), commits_of([unknown | {"numerics": NUMERICS}])) == "after", (
        "nothing is known"
    )


def test_a_resumed_run_is_as_old_as_its_first_start(claim):
    resumed = {"git": {"commit": NEW, "earlier": [OLD]}}
    assert registered(replace(claim, since=NEW), commits_of([resumed])) == "after"
    assert registered(replace(claim, since=OLD), commits_of([resumed])) == "before"


def test_what_a_recipe_calls_late_stays_late(claim):
    assert registered(replace(claim, since=OLD, registered="after"), [NEW]) == "after"


def test_without_git_the_recipe_is_believed(claim, tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.git.ROOT", tmp_path)
    history.in_repository.cache_clear()
    try:
        assert registered(replace(claim, since=NEW), [OLD]) == "before"
    finally:
        history.in_repository.cache_clear()


@pytest.mark.parametrize("folder", result_folders(ROOT / "results"), ids=lambda folder: "/".join(folder.parts[-3:]))
def test_no_published_verdict_counts_that_its_runs_did_not_know(folder):
    commits = read_provenance(folder).commits
    for claim in read_verdicts(folder / "verdicts.json").claims:
        assert claim.verdict == "not run" or claim.registered == registered(claim, commits), claim.id


@pytest.mark.parametrize("name", recipe_names())
def test_every_claim_names_a_commit_that_has_its_very_test(name):
    content = yaml.safe_load((RECIPES_DIR / f"{name}.yaml").read_text())
    suffix = f"-{content['variant']['suffix']}" if "variant" in content else ""
    base = content["variant"]["of"] if suffix else name
    for claim in load_recipe(name).claims:
        tests = stated_at(claim.since, base)
        assert tests.get(claim.id.removesuffix(suffix)) == claim.holds_if.split(), claim.id
        assert not suffix or stated_at(claim.since, name) is not None


@pytest.mark.parametrize("name", recipe_names())
def test_a_claim_that_restates_another_asks_of_the_same_arms_and_is_no_older(name):
    recipe = load_recipe(name)
    by_id = {claim.id: claim for claim in recipe.claims}
    for claim in (claim for claim in recipe.claims if claim.restates):
        counted = by_id[claim.restates]
        asked, by_the_other = ({arm for _, arm in form_of(one, recipe).calls.values()} for one in (claim, counted))
        assert asked == by_the_other, claim.id
        assert history.contains(claim.since, counted.since), claim.id
        assert list(by_id).index(counted.id) < list(by_id).index(claim.id), claim.id


@cache
def stated_at(commit: str, recipe: str) -> dict[str, list[str]]:
    """Return the tests of a recipe's own claims at a commit, by their ids, as words."""
    command = ["git", "-C", str(ROOT), "show", f"{commit}:recipes/{recipe}.yaml"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {claim["id"]: claim["holds_if"].split() for claim in yaml.safe_load(shown).get("claims", [])}
