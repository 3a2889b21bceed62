"""Write what published results say into pages: all of ``docs/results.md``, and parts of README.md and other pages.

A part lies between two lines of its page, and the first one names its template under ``docs/templates``::

    <!-- make pages: answer -->
    …
    <!-- end of answer -->

A template asks ``results("small/toy/fig2a")`` for a folder of results, and this for what it needs of it, see
:class:`lnexp.results.pages.published_folder.PublishedFolder`. So no number there is typed, and none stays behind when
results change.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lnexp.corpora.names import corpus_name
from lnexp.errors import UserError
from lnexp.figures.answer import draw_answer
from lnexp.files import write_whole
from lnexp.paths import ROOT
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.recipe import THEORY
from lnexp.recipes.schema import schema
from lnexp.results.judging.claimants import by_claimant
from lnexp.results.judging.claims import measures_in_words
from lnexp.results.judging.tally import REPEATED, tally
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts, all_verdicts, not_run
from lnexp.results.pages.contradictions import not_reproduced
from lnexp.results.pages.headline import CLAIMS, PAPER, ROWS
from lnexp.results.pages.published_folder import PublishedFolder, cost_of, cost_with_seeds
from lnexp.results.statistics.power import power_of_rate
from lnexp.results.tables.benchmark_tables import benchmark_tables

#: Pages of which everything is made, with their templates.
WHOLE = {"docs/results.md": "results"}
TEMPLATES = "docs/templates"
#: The figure of the answer.
ANSWER = "docs/answer.png"


class Corpus(NamedTuple):
    """A corpus that the paper's experiments are run on: its place in results, and what it is, in a sentence."""

    place: str
    in_words: str

    @property
    def name(self) -> str:
        return corpus_name(self.place.rpartition("/")[2])


#: The strongest evidence first. Pages show those that have results of Fig. 4(a,b) which tallies count.
CORPORA = (
    Corpus("paper/iwslt14", "the whole of IWSLT14"),
    Corpus("medium/multi30k", "Multi30k"),
    Corpus("small/toy", "the embedded corpus of made-up German-English sentences"),
)
#: What the project's own grammar makes, as pages call it.
OWN_GRAMMAR = {"toy", "bert_toy"}
BEGIN, END = "<!-- make pages: {} -->\n", "<!-- end of {} -->\n"
PART = re.compile(BEGIN.format(r"(\w+)") + ".*?" + END.format(r"(\w+)"), re.DOTALL)


def made_pages() -> list[str]:
    """Return the pages that have anything to make, by their places in the project."""
    own = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    partly = [page.relative_to(ROOT).as_posix() for page in own if PART.search(page.read_text(encoding="utf-8"))]
    return [*WHOLE, *(page for page in partly if page not in WHOLE)]


def page_of(page: str, results_dir: Path) -> str:
    """Return the content of a page with what is made of its templates.

    Args:
        page: its place in the project.
        results_dir: the root of all results.

    Raises:
        UserError: where a template asks for results, arms, measures or claims that are not there, or a part of the page
            does not end.
    """
    render = _renderer(results_dir, root="../" * page.count("/"))
    if page in WHOLE:
        return render(WHOLE[page])

    def part(found: re.Match[str]) -> str:
        name, end = found.groups()
        if name != end:
            raise UserError(f"{page}: the part {name} ends as {end}")
        return f"{BEGIN.format(name)}{render(name)}{END.format(name)}"

    there = (ROOT / page).read_text(encoding="utf-8")
    made, parts = PART.subn(part, there)
    if parts != there.count(BEGIN.partition("{}")[0]):
        raise UserError(f"{page}: a part of it does not end")
    return made


def _renderer(results_dir: Path, root: str) -> Callable[[str], str]:
    """Return what renders a template by its name; ``root`` leads from its page to the project, for links."""
    environment = Environment(
        loader=FileSystemLoader(ROOT / TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )

    @cache
    def results(place: str) -> PublishedFolder:
        return PublishedFolder(results_dir / place)

    found = all_verdicts(results_dir)
    places = [f"{one.profile}/{one.data}/{one.recipe}" for one in found]
    contradicted = [
        (claim, results(place))
        for place, one in zip(places, found, strict=True)
        for claim in one.content.claims
        if claim.verdict == "contradicted"
    ]
    claimants = by_claimant(found)
    claims_of = {
        name: [claim for one in of_one for claim in one.content.claims if claim.verdict != "not run"]
        for name, of_one in claimants.items()
    }
    tallies = [tally(claims) for claims in claims_of.values()]
    environment.globals |= {
        "root": root,
        "corpora": _shown(results_dir),
        "paper": PAPER,
        "rows": ROWS,
        "first_arm": partial(_first_arm, results_dir),
        "first_claims": [(said, *name.split("/")) for said, name in CLAIMS.items()],
        "recipes": [(load_recipe(name), _targets_of(name)) for name in recipe_names()],
        "schema": schema(),
        "measures": measures_in_words(),
        "results": results,
        "cost": lambda places, seeds: cost_with_seeds([results(place) for place in places], seeds),
        "spent": cost_of([results(place) for place in places]),
        "spent_unknown": [
            place for place in places if not place.startswith(f"{THEORY}/") and not results(place).core_seconds
        ],
        "benchmarks": benchmark_tables(results_dir / "bench"),
        "published": places.__contains__,
        "theory": [place for place in places if place.startswith(f"{THEORY}/")],
        "contradicted": contradicted,
        "not_reproduced": {name: not_reproduced(of_one) for name, of_one in claimants.items()},
        "claims_of": claims_of,
        "tally": tally,
        "weak": [claim for of_one in tallies for claim in of_one.weak],
        "repeated": [claim for of_one in tallies for claim in of_one.repeated],
        "REPEATED": REPEATED,
        "counts_survive": any(of_one.counts_survive for of_one in tallies),
        "power_of_rate": power_of_rate,
        "counted_on": _in_words(sorted({one.data for one in found if one.profile != THEORY and _counts(one)})),
        "missing": _missing(results_dir, found),
    }
    return lambda name: environment.get_template(f"{name}.md.jinja").render()


def _shown(results_dir: Path) -> list[Corpus]:
    """Return the corpora that pages show: those whose results tallies count, or all where they count none.

    Raises:
        UserError: where there is none.
    """
    found = {one: path for one in CORPORA if (path := results_dir / one.place / "fig4ab" / "verdicts.json").exists()}
    if not found:
        raise UserError(f"{results_dir}: has no results of fig4ab, which pages begin with")
    return [one for one, path in found.items() if _counts(RecipeVerdicts(path, read_verdicts(path)))] or list(found)


def answer_points(results_dir: Path) -> dict[str, dict[str, list[float]]]:
    """Return what the figure of the answer shows: the best BLEU of every run, by corpus and row of ``ROWS``."""
    points: dict[str, dict[str, list[float]]] = {}
    for corpus in _shown(results_dir):
        for row, arms in ROWS.items():
            found = _first_arm(results_dir, corpus.place, arms)
            points.setdefault(corpus.name, {})[row] = found.folder.values("best_bleu", found.arm) if found else []
    return points


class PublishedArm(NamedTuple):
    """An arm of published results."""

    folder: PublishedFolder
    arm: str


def _first_arm(results_dir: Path, place: str, arms: Sequence[str]) -> PublishedArm | None:
    """Return the first of these arms, ``recipe/arm``, that has results at a place; None where none has."""
    for recipe, _, arm in (name.partition("/") for name in arms):
        folder = results_dir / place / recipe
        if (folder / "verdicts.json").exists() and arm in (of := PublishedFolder(folder)).arms:
            return PublishedArm(of, arm)
    return None


def _targets_of(recipe: str) -> list[str]:
    """Return the make targets that run a recipe, as code."""
    targets = re.findall(
        r"^([\w-]+):(?!=).*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [f"`make {name}`" for name, lines in targets if re.search(rf"\+recipe=(\S+,)?{recipe}(,|\s)", lines)]


def _in_words(corpora: Sequence[str]) -> str:
    """Return the names of corpora for a sentence."""
    return "the embedded grammar's sentences alone" if set(corpora) <= OWN_GRAMMAR else ", ".join(corpora)


def _counts(one: RecipeVerdicts) -> bool:
    """Return whether tallies count a verdict of a recipe."""
    return any(claim.counts and claim.verdict != "not run" for claim in one.content.claims)


def _missing(results_dir: Path, found: list[RecipeVerdicts]) -> dict[str, list[str]]:
    """Return the recipes that were not run, by profile."""
    recipes: dict[str, list[str]] = {}
    for one in not_run(results_dir, found):
        recipes.setdefault(one.profile, []).append(one.recipe)
    return recipes


def write_pages(results_dir: Path) -> None:
    """Write all pages and the figure of the answer anew."""
    for page in made_pages():
        write_whole(ROOT / page, page_of(page, results_dir))
    draw_answer(answer_points(results_dir), ROOT / ANSWER)
