"""Seeds are those that were planned when the runs were made, whatever the recipe says by now."""

from dataclasses import replace

import pytest

from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Setting
from lnexp.result_tables import read_table
from lnexp.results.evidence.provenance import of_runs, recorded_plan, write_provenance
from lnexp.results.evidence.published_evidence import published_evidence
from lnexp.results.judging.planned_seeds import planned_seeds
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.writing.write import write_results
from lnexp.results.writing.write_probe import write_probe
from lnexp.runs.environment import Environment

#: A commit whose recipe fig2a plans seeds 21 to 30 at profile small and has no profile medium; one that plans 11 to 13.
TEN, THREE = "dbcde18", "725173f"
#: The commit that planned seeds 101 to 110 there.
MOVED = "2f83cfb"


def fig2a(first_seed: int, n_seeds: int, name: str = "fig2a"):
    recipe = load_recipe(name)
    small = replace(recipe.profiles["small"], first_seed=None, n_seeds=None)
    return replace(recipe, first_seed=first_seed, n_seeds=n_seeds, profiles={**recipe.profiles, "small": small})


@pytest.mark.parametrize(
    ("today", "commits", "planned"),
    [
        ((21, 10), [TEN], range(21, 31)),
        ((21, 3), [TEN], range(21, 31)),  # lowered after the runs
        ((1, 10), [TEN], range(21, 31)),  # moved to seeds that were run
        ((21, 12), [TEN], range(21, 33)),  # raised: there is more to do
        ((21, 10), [THREE], range(21, 31)),
        ((21, 2), [THREE], range(11, 14)),
        ((21, 2), [THREE, TEN], range(21, 31)),
        ((21, 3), ["0" * 40], range(21, 24)),
        ((21, 3), [], range(21, 24)),
    ],
)
def test_the_longest_plan_that_is_known(today, commits, planned):
    assert planned_seeds(fig2a(*today), "small", commits) == planned


def test_a_variant_has_the_plan_of_its_recipe():
    assert planned_seeds(fig2a(21, 3, "fig2a_coupled"), "small", [TEN]) == range(21, 31)


@pytest.mark.parametrize("commits", [[], [TEN]])
def test_a_profile_has_seeds_of_its_own(commits):
    """Those of today are taken where git knows no other plan; new ones do not take the place of those that were run."""
    small = Setting(data="toy", first_seed=101, n_seeds=10)
    recipe = fig2a(21, 3)
    today = replace(recipe, profiles={**recipe.profiles, "small": small})
    assert planned_seeds(today, "small", commits) == (range(21, 31) if commits else range(101, 111))


def test_the_seeds_of_a_profile_are_asked_of_the_commit_too():
    assert planned_seeds(fig2a(21, 3), "small", [MOVED]) == range(101, 111)


@pytest.mark.parametrize("later", [MOVED, "8e35453", "2143e2c"])
def test_of_plans_of_one_length_the_oldest_is_taken(later):
    """Whatever the names of the commits: seeds that were moved after some of the runs take no plan's place."""
    for commits in ([TEN, later], [later, TEN], ["53ad779", later], [later, "ea0f2fc"]):
        assert planned_seeds(fig2a(21, 3), "small", commits) == range(21, 31)


def test_what_the_code_did_not_have_was_not_planned():
    assert planned_seeds(load_recipe("fig2a"), "medium", [TEN]) == range(21, 27)
    assert planned_seeds(replace(fig2a(21, 3), name="another"), "small", [TEN]) == range(21, 24)


def test_of_a_recipe_of_ones_own_the_recorded_plan_is_taken(tmp_path):
    own = replace(fig2a(21, 3), file=tmp_path / "fig2a.yaml")
    assert planned_seeds(own, "small", [TEN]) == range(21, 24)
    assert planned_seeds(own, "small", [TEN], range(21, 26)) == range(21, 26)


def test_a_plan_is_recorded_with_its_runs(make_run, tmp_path):
    runs = [make_run("good", 11, [90.0])]
    for run in runs:
        run.cfg.data_dir = tmp_path
    write_provenance(tmp_path, of_runs(runs), range(11, 16))
    assert recorded_plan(tmp_path, {"good11", "bad11"}) == range(11, 16)
    assert recorded_plan(tmp_path, {"good12"}) is None, "other runs may have another plan"
    assert recorded_plan(tmp_path / "nowhere", {"good11"}) is None
    assert recorded_plan(tmp_path) == range(11, 16), "measurements have no identity"


@pytest.mark.usefixtures("without_figures")
def test_seeds_of_a_probe_that_git_does_not_know_cannot_be_lowered_either(tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.results.writing.write_probe.write_copy", lambda recipe, folder: None)
    published = RESULTS_DIR / "theory/gaussian/theory_lemma1"
    first = min(read_table(published / "measurements.csv").seed)
    recipe = replace(load_recipe("theory_lemma1"), first_seed=first)
    measured = published_evidence(recipe, published, False)
    made_on = Environment(cpu="a processor", device="cpu")
    own = replace(recipe, n_seeds=12, file=tmp_path / "theory_lemma1.yaml")
    for one in (own, replace(own, n_seeds=10)):
        folder = write_probe(one, measured, "gaussian", None, made_on, [], tmp_path)
        claims = read_verdicts(folder / "verdicts.json").claims
        assert {(claim.seeds, claim.planned, claim.counts) for claim in claims} == {(10, 12, False)}
    other = replace(own, n_seeds=10, settings=[*own.settings, "lr_max=1"])
    write_probe(other, measured, "gaussian", None, made_on, [], tmp_path)
    assert {claim.planned for claim in read_verdicts(folder / "verdicts.json").claims} == {10}


@pytest.mark.usefixtures("without_figures")
def test_seeds_of_a_recipe_that_git_does_not_know_cannot_be_lowered_either(make_run, tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.results.writing.write.write_copy", lambda recipe, folder: None)
    runs = [make_run(arm, seed, [bleu + seed]) for arm, bleu in (("good", 90.0), ("bad", 1.0)) for seed in (11, 12, 13)]
    own = replace(make_run.recipe, n_seeds=5, file=tmp_path / "figx.yaml")
    for recipe in (own, replace(own, n_seeds=3)):
        folder = write_results(recipe, runs, "make x", tmp_path)
        (claim,) = read_verdicts(folder / "verdicts.json").claims
        assert (claim.seeds, claim.planned, claim.left_out) == (3, 5, "fewer seeds than planned")
