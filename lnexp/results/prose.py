"""Write pages whose numbers come from published results: a whole page, and the answer in README.md, of a template each.

A template asks ``results("small/toy/fig2a")`` for a folder of results, and this for what it needs of it, see
:class:`PublishedFolder`. So no number on such a page is typed, and none can stay behind when results change.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tabulate import tabulate

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.numerics import numerics_of
from lnexp.paths import ROOT
from lnexp.published import read_table
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import THEORY, Recipe
from lnexp.results.claims import Evidence, measures_of
from lnexp.results.intervals import Interval, interval
from lnexp.results.outcomes import for_people
from lnexp.results.provenance import Provenance, commit_of, read_provenance
from lnexp.results.published_evidence import published_evidence
from lnexp.results.success import Success, succeeds, success_of
from lnexp.results.tally import tally
from lnexp.results.verdict_file import JudgedClaim, read_verdicts
from lnexp.results.verdicts import RecipeVerdicts, all_verdicts, not_run

#: Pages and the templates that they are made of, by their places in the project.
PAGES = {"docs/results.md": "docs/results.md.jinja", "README.md": "docs/answer.md.jinja"}
#: Between these lines of a page lies what is made; of a page without them everything is.
BEGIN, END = "<!-- make pages writes this part -->\n", "<!-- as far as here -->\n"


class PublishedFolder:
    """A folder of results, as a template asks for it.

    Args:
        path: ``<profile>/<data>/<recipe>`` below the folder of all results.
    """

    def __init__(self, path: Path):
        self._path = path
        self._verdicts = read_verdicts(path / "verdicts.json")
        self._claims = {claim.id: claim for claim in self._verdicts.claims}

    @cached_property
    def recipe(self) -> Recipe:
        return load_recipe(self._verdicts.recipe)

    @cached_property
    def _by_arm(self) -> Mapping[str, list[Evidence]]:
        by_arm: dict[str, list[Evidence]] = {}
        for one in published_evidence(self.recipe, self._path, self._verdicts.papers):
            if one.counts:
                by_arm.setdefault(one.job.arm.name, []).append(one)
        return by_arm

    @property
    def scope(self) -> str:
        """What the runs were trained on, in words."""
        return self._verdicts.scope

    @property
    def seeds(self) -> str:
        """The seeds, as ``21 to 30``, and how many they are."""
        seeds = sorted({one.job.seed for of_arm in self._by_arm.values() for one in of_arm})
        return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])

    @cached_property
    def _provenance(self) -> Provenance:
        return read_provenance(self._path)

    @property
    def commits(self) -> str:
        """The commits of the code, shortened."""
        commits = filter(None, map(commit_of, self._provenance.environments))
        return ", ".join(sorted({commit[:7] for commit in commits})) or "unknown"

    @property
    def numerics(self) -> str:
        """The versions of the numerics."""
        return ", ".join(map(str, sorted({numerics_of(one) for one in self._provenance.environments})))

    def interval(self, measure: str, arm: str) -> Interval:
        """Return a measure of an arm: its mean over seeds with the 95% interval."""
        found = interval(self._measured(measure, arm))
        if found is None:
            raise UserError(f"{self._path}: has no {measure} of {arm}")
        return found

    def mean(self, measure: str, arm: str, places: int = 1) -> str:
        """Return the mean of a measure over seeds, with so many decimal places."""
        return f"{self.interval(measure, arm).mean:z.{places}f}"

    def range(self, measure: str, arm: str, places: int = 1) -> str:
        """Return the mean of a measure over seeds with its 95% interval, with so many decimal places."""
        found = self.interval(measure, arm)
        if found.low is None or found.high is None:
            return f"{found.mean:z.{places}f}"
        return f"{found.mean:z.{places}f} [{found.low:z.{places}f}, {found.high:z.{places}f}]"

    def trained(self, arm: str) -> str:
        """Return how many runs of an arm succeed (see :mod:`lnexp.results.success`), as ``9 of 10``."""
        success = success_of(self.recipe)
        scores = {name: self._scores(success, name) for name in self._by_arm}
        line = success.line([score for score, _ in of_arm] for of_arm in scores.values())
        succeeded = sum(succeeds(score, diverged, line) for score, diverged in scores[arm])
        return f"{succeeded} of {len(scores[arm])}"

    def _scores(self, success: Success, arm: str) -> list[tuple[float, bool]]:
        measured = [(measures_of(self.recipe)[success.measure](run), run.diverged) for run in self._by_arm[arm]]  # type: ignore[attr-defined]
        return [(score, diverged) for score, diverged in measured if score is not None]

    @property
    def arms(self) -> list[str]:
        """The names of the arms that have runs, in the recipe's order."""
        return [name for name in self.recipe.arms if name in self._by_arm]

    @property
    def claims(self) -> list[JudgedClaim]:
        """All claims, as they were judged."""
        return list(self._claims.values())

    def verdict(self, claim: str) -> str:
        """Return the verdict of a claim; bold where it is contradicted."""
        if claim not in self._claims:
            raise UserError(f"{self._path}: has no claim {claim}")
        verdict = self._claims[claim].verdict
        return f"**{verdict}**" if verdict == "contradicted" else verdict

    @property
    def outcomes(self) -> str:
        """The table of who trains without warm-up and with it, in Markdown."""
        if not self.recipe.outcomes:
            return ""
        headers, rows = for_people(self.recipe, read_table(self._path / "outcomes.csv"))
        return tabulate(rows, headers=headers, tablefmt="github")

    def extremes(self, measure: str, arms: Sequence[str], places: int = 1) -> str:
        """Return the least and the greatest value of a measure over all runs of arms, as ``0.1 to 7.6``."""
        values = [value for arm in arms for value in self._measured(measure, arm)]
        return f"{min(values):z.{places}f} to {max(values):z.{places}f}"

    def _measured(self, measure: str, arm: str) -> list[float]:
        values = [measures_of(self.recipe)[measure](one) for one in self._by_arm.get(arm, [])]
        return [value for value in values if value is not None]


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
        tallies=[(name, tally(claims).text) for name, claims in _by_claimant(found).items()],
        missing=[one.recipe for one in not_run(results_dir, found) if one.profile != "paper"],
    )


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
