"""Make the variables of the templates of pages: folders of results, verdicts, tallies, costs and the recipes."""

import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from lnexp.corpora.names import corpus_name
from lnexp.numerics import NUMERICS
from lnexp.paths import ROOT
from lnexp.recipes.jobs import THEORY
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.schema import schema
from lnexp.results.judging.claimants import by_claimant
from lnexp.results.judging.exact_test import by_exact_test
from lnexp.results.judging.questions import measures_in_words
from lnexp.results.judging.tally import REPEATED, tally
from lnexp.results.judging.verdicts import RecipeVerdicts, all_verdicts, not_run, sound_recipes
from lnexp.results.pages.chapters import published_chapters
from lnexp.results.pages.contradictions import findings
from lnexp.results.pages.headings import anchor, headings
from lnexp.results.pages.headline import CLAIMS, PAPER, ROWS
from lnexp.results.pages.published_folder import PublishedFolder
from lnexp.results.pages.sections import section_place, section_title, with_links
from lnexp.results.pages.shown_corpora import counts, first_arm, in_one_recipe, shown_corpora
from lnexp.results.pages.training_cost import cost_of, cost_with_seeds
from lnexp.results.statistics.power import power_of_rate
from lnexp.results.statistics.sign_flips import p_of_sign_flips
from lnexp.results.tables.benchmark_tables import benchmark_tables

#: What the project's own grammar makes, as pages call it.
OWN_GRAMMAR = {"toy", "bert_toy"}


def variables(results_dir: Path) -> dict[str, Any]:
    """Return what templates can ask for, by name.

    Args:
        results_dir: the root of all results.

    Raises:
        UserError: where there are no results that pages begin with.
    """
    found = all_verdicts(results_dir)
    return _of_folders(results_dir, found) | _of_claims(found) | _of_the_project()


def _of_folders(results_dir: Path, found: list[RecipeVerdicts]) -> dict[str, Any]:
    """Return what gives templates the folders of results, which are there, and what their runs cost."""

    @cache
    def results(place: str) -> PublishedFolder:
        return PublishedFolder(results_dir / place)

    places = [one.place for one in found]
    chapters = published_chapters(places)

    @cache
    def sections(root: str) -> dict[str, str]:
        return {place: root + section_place(place, results(place)) for chapter in chapters for place in chapter.places}

    trained = [place for place in places if not place.startswith(f"{THEORY}/")]
    return {
        "corpora": shown_corpora(results_dir),
        "first_arm": partial(first_arm, results_dir),
        "in_one_schedule": in_one_recipe(results_dir),
        "results": results,
        "published": places.__contains__,
        "text": lambda place: (results_dir / place).read_text(encoding="utf-8").strip(),
        "chapters": {chapter.name: chapter for chapter in chapters},
        "title": lambda place: section_title(place, results(place)),
        "section": lambda place: section_place(place, results(place)),
        "linked": lambda text, place, root: with_links(text, place, sections(root)),
        "missing": _missing(results_dir, found),
        "versions": sorted({version for place in places for version in results(place).numerics}),
        "cost": lambda places, seeds: cost_with_seeds([results(place) for place in places], seeds),
        "spent": cost_of([results(place) for place in places]),
        "spent_on": {place: cost_of([results(place)]) for place in trained},
        "spent_unknown": [place for place in trained if not results(place).core_seconds],
        "benchmarks": benchmark_tables(results_dir / "bench"),
        "contradicted": [
            (claim, one.place) for one in found for claim in one.content.claims if claim.verdict == "contradicted"
        ],
    }


def _of_claims(found: list[RecipeVerdicts]) -> dict[str, Any]:
    """Return what templates say of claims, tallies of them, and what was contradicted."""
    claimants = by_claimant(found)
    claims_of = {
        name: [claim for one in of_one for claim in one.content.claims if claim.verdict != "not run"]
        for name, of_one in claimants.items()
    }
    tallies = [tally(claims) for claims in claims_of.values()]
    counted = tally(claim for of_one in claims_of.values() for claim in of_one)
    return {
        "claims_of": claims_of,
        "kinds": {one.place: name for name, of_one in claimants.items() for one in of_one},
        "findings": {name: findings(of_one) for name, of_one in claimants.items()},
        "tally": tally,
        "by_exact_test": by_exact_test(counted.decisions),
        "least_exact_p": lambda seeds: p_of_sign_flips([1.0] * seeds),
        "weak": [claim for of_one in tallies for claim in of_one.weak],
        "repeated": [claim for of_one in tallies for claim in of_one.repeated],
        "REPEATED": REPEATED,
        "counted_on": _in_words(sorted({one.data for one in found if one.profile != THEORY and counts(one)})),
        "power_of_rate": power_of_rate,
    }


def _of_the_project() -> dict[str, Any]:
    """Return what templates say of the paper, of recipes and of what claims can ask."""
    return {
        "numerics": NUMERICS,
        "paper": PAPER,
        "rows": ROWS,
        "first_claims": [(said, *name.split("/")) for said, name in CLAIMS.items()],
        "recipes": [(load_recipe(name), _targets_of(name)) for name in recipe_names()],
        "schema": schema(),
        "headings": headings,
        "anchor": anchor,
        "measures": measures_in_words(),
    }


def _targets_of(recipe: str) -> list[str]:
    """Return the make targets that run a recipe, as code."""
    targets = re.findall(
        r"^([\w-]+):(?!=).*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [f"`make {name}`" for name, lines in targets if re.search(rf"\+recipe=(\S+,)?{recipe}(,|\s)", lines)]


def _in_words(corpora: Sequence[str]) -> str:
    """Return the names of corpora for a sentence."""
    if set(corpora) <= OWN_GRAMMAR:
        return "the embedded grammar's sentences alone"
    return ", ".join(map(corpus_name, corpora))


def _missing(results_dir: Path, found: list[RecipeVerdicts]) -> dict[str, list[str]]:
    """Return the recipes that were not run, by profile."""
    recipes: dict[str, list[str]] = {}
    for one in not_run(results_dir, found, sound_recipes()[0]):
        recipes.setdefault(one.profile, []).append(one.recipe)
    return recipes
