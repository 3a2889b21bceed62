"""Write pages whose numbers come from published results: a whole page, and the answer in README.md, of a template each.

A template asks ``results("small/toy/fig2a")`` for a folder of results, and this for what it needs of it, see
:class:`lnexp.results.published_folder.PublishedFolder`. So no number on such a page is typed, and none can stay behind
when results change.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lnexp.files import write_whole
from lnexp.paths import ROOT
from lnexp.recipes.recipe import THEORY
from lnexp.results.power import power_of_rate
from lnexp.results.published_folder import PublishedFolder
from lnexp.results.tally import tally
from lnexp.results.verdict_file import JudgedClaim
from lnexp.results.verdicts import RecipeVerdicts, all_verdicts, not_run

#: Pages and the templates that they are made of, by their places in the project.
PAGES = {"docs/results.md": "docs/results.md.jinja", "README.md": "docs/answer.md.jinja"}
#: Between these lines of a page lies what is made; of a page without them everything is.
BEGIN, END = "<!-- make pages writes this part -->\n", "<!-- as far as here -->\n"


def page_of(page: str, results_dir: Path) -> str:
    """Return the content of a page with what is made of its template.

    Args:
        page: its place in the project.
        results_dir: the root of all results.

    Raises:
        UserError: where its template asks for results, arms, measures or claims that are not there.
    """
    made = _render(PAGES[page], results_dir)
    if not (path := ROOT / page).exists() or BEGIN not in (there := path.read_text(encoding="utf-8")):
        return made
    before, _, rest = there.partition(BEGIN)
    return f"{before}{BEGIN}{made}{END}{rest.partition(END)[2]}"


def _render(template: str, results_dir: Path) -> str:
    environment = Environment(
        loader=FileSystemLoader(ROOT),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )

    @cache
    def results(place: str) -> PublishedFolder:
        return PublishedFolder(results_dir / place)

    found = [one for one in all_verdicts(results_dir) if one.was_run]
    places = [f"{one.profile}/{one.data}/{one.recipe}" for one in found]
    contradicted = [
        (claim, results(place))
        for place, one in zip(places, found, strict=True)
        for claim in one.content.claims
        if claim.verdict == "contradicted"
    ]
    return environment.get_template(template).render(
        results=results,
        published=places.__contains__,
        theory=[place for place in places if place.startswith(f"{THEORY}/")],
        contradicted=contradicted,
        tallies={name: tally(claims) for name, claims in _by_claimant(found).items()},
        power_of_rate=power_of_rate,
        counted_on=sorted({one.data for one in found if one.profile != THEORY and _counts(one)}),
        missing=_missing(results_dir, found),
    )


def _counts(one: RecipeVerdicts) -> bool:
    """Return whether tallies count a verdict of a recipe."""
    return any(claim.counts and claim.verdict != "not run" for claim in one.content.claims)


def _missing(results_dir: Path, found: list[RecipeVerdicts]) -> dict[str, list[str]]:
    """Return the recipes that were not run, by profile."""
    recipes: dict[str, list[str]] = {}
    for one in not_run(results_dir, found):
        recipes.setdefault(one.profile, []).append(one.recipe)
    return recipes


def _by_claimant(found: Sequence[RecipeVerdicts]) -> dict[str, list[JudgedClaim]]:
    """Return the claims that were judged, by whose they are: the paper's experiments, its theory, or others'."""
    claims: dict[str, list[JudgedClaim]] = {"The paper's experiments": [], "Its theory": [], "Beyond the paper": []}
    for one in found:
        beyond, theory = one.content.figure.startswith("beyond"), one.profile == THEORY
        name = "Beyond the paper" if beyond else "Its theory" if theory else "The paper's experiments"
        claims[name] += [claim for claim in one.content.claims if claim.verdict != "not run"]
    return claims


def write_pages(results_dir: Path) -> None:
    """Write all pages anew."""
    for page in PAGES:
        write_whole(ROOT / page, page_of(page, results_dir))
