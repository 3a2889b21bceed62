"""Render the page: one HTML file with everything in it, nothing from a network."""

import gzip
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lnexp.figures.names import MOST_CURVES
from lnexp.figures.panels import Drawing, Panel, y_ranges
from lnexp.paths import is_published
from lnexp.recipes.jobs import THEORY
from lnexp.recipes.load import COPY
from lnexp.report.descriptions import corpus, in_words, made_on
from lnexp.report.front import front_of
from lnexp.report.reading_order import FIGURES, rank
from lnexp.report.robust import plainly, what_is_wrong
from lnexp.report.rounding import rounded
from lnexp.report.run_rows import Runs
from lnexp.report.sections import PLACES, Section
from lnexp.results.judging.tally import ORDER, tally
from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.pages.verdict_pages import HOW_TO_READ


def render(columns: Sequence[Sequence[Section]], names: Sequence[str], runs: Runs, commit: str) -> str:
    """Return the page as HTML.

    Args:
        columns: the sections of one place, or of two to be compared.
        names: of the places.
        runs: for the table of runs.
        commit: of the code that makes the page.
    """
    environment = _environment()
    columns = [[_showable(section, environment, names) for section in column] for column in columns]
    sections = [section for column in columns for section in column]
    tallies = [tally(claim for section in column for claim in section.claims) for column in columns]
    groups, fronts = _groups(columns), [front_of(column) for column in columns]
    page = environment.get_template("report.html.jinja").render(
        groups=groups,
        own_title=_own_title(groups),
        fronts=fronts,
        answers=any(front.answer or front.corpora or front.claims for front in fronts),
        names=names,
        is_published=len(names) == 1 and is_published(Path(names[0])),
        tallies=tallies,
        how_to_read=HOW_TO_READ,
        claims=_claims(columns),
        not_run=_not_run(sections),
        manifests=_manifests(sections),
        runs=runs,
        commit=commit,
        places=list(PLACES),
        data={"drawings": _all_drawings(sections), "maps": _maps(sections), "runs": asdict(runs)},
        plotly=(files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8"),
        style=(files("lnexp.report") / "template" / "report.css").read_text(encoding="utf-8"),
        script=(files("lnexp.report") / "template" / "report.js").read_text(encoding="utf-8"),
    )
    return page.encode("utf-8", errors="backslashreplace").decode()  # names of files need not be text


@cache
def _environment() -> Environment:
    """Return what compiles the templates, which takes longer than to render a page of one figure."""
    environment = Environment(
        loader=PackageLoader("lnexp.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "sort_keys": False}
    environment.filters["packed"] = packed
    environment.globals.update(
        keyed_panels=keyed_panels,
        in_words=in_words,
        is_aside=_is_aside,
        made_on=made_on,
        corpus=corpus,
        group_titles=GROUPS,
        contents=_contents,
        most_curves=MOST_CURVES,
    )
    return environment


def packed(data: Any) -> str:
    """Return data as JSON that is compressed and in base64, for the page's script: a tenth of the size, for runs have
    most of their settings and commands in common.
    """
    content = json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
    return b64encode(gzip.compress(content, mtime=0)).decode()


def _showable(section: Section, environment: Environment, names: Sequence[str]) -> Section:
    """Return the section, or, where the content of its files cannot be shown, a section that says what is wrong."""
    said: Any = environment.get_template("section.html.jinja").module
    try:
        said.article(section, names)
        for claim in section.claims:
            said.theirs(claim), said.ours(claim)
        plainly([asdict(section.heat_map) if section.heat_map else None, *map(asdict, section.drawings)])
    except Exception as error:
        return Section(section.folder, section.place, problems=[what_is_wrong(section.folder, error)])
    return section


def side_by_side(columns: Sequence[Sequence[Section]]) -> list[list[Section | None]]:
    """Return the sections that are shown next to each other: of two places, those of one name."""
    if len(columns) == 1:
        return [[section] for section in columns[0]]
    left, right = columns
    if len(left) == len(right) == 1:
        return [[left[0], right[0]]]
    by_name = [{section.name: section for section in column} for column in columns]
    names = dict.fromkeys(section.name for section in (*left, *right))
    return [[column.get(name) for column in by_name] for name in names]


#: The parts of the page that sections belong to: the name by which links find them, and their title.
GROUPS = {
    "own": "Recipes of your own",
    "figures": "The paper's figures",
    "controls": "Other readings of them, and controls",
    "theory": "The paper's theory",
    "beyond": "Beyond the paper",
}
Pair = Sequence[Section | None]


def _groups(columns: Sequence[Sequence[Section]]) -> dict[str, list[Pair]]:
    """Return the sections that have results, each with what another place has of the same, by the part of the page."""
    groups: dict[str, list[Pair]] = {name: [] for name in GROUPS}
    pairs = [pair for pair in side_by_side(columns) if any(section and section.was_run for section in pair)]
    for pair in sorted(pairs, key=lambda pair: (rank(_first(pair).recipe), _first(pair).figure, _first(pair).title)):
        groups[_group(_first(pair))].append(pair)
    return groups


def _own_title(groups: Mapping[str, Sequence[Pair]]) -> str:
    """Return the title of a page of recipes of the user's alone; empty for any other."""
    if any(pairs for name, pairs in groups.items() if name != "own"):
        return ""
    titles = {_first(pair).title for pair in groups["own"]}
    return titles.pop() if len(titles) == 1 else "Results of your own" if titles else ""


def _first(pair: Pair) -> Section:
    return next(section for section in pair if section)


def _group(section: Section) -> str:
    if (section.folder / COPY).is_file():
        return "own"
    if section.verdicts is None:
        return "figures"
    if section.verdicts.content.figure.startswith("beyond"):
        return "beyond"
    if section.verdicts.profile == THEORY:
        return "theory"
    return "figures" if section.recipe in FIGURES else "controls"


def _is_aside(group: str, section: Section) -> bool:
    """Return whether the curves of a section can be folded where the paper's figures stand before it: of controls, and
    of runs beyond the paper.
    """
    return group == "controls" or (group == "beyond" and section.task is not None)


def _contents(pairs: Sequence[Pair]) -> list[tuple[str, list[Section]]]:
    """Return the sections of a part of the page by their figure, in their order, for the table of contents."""
    sections = [_first(pair) for pair in pairs]
    return [
        (figure.removeprefix("beyond the paper, "), list(same))
        for figure, same in groupby(sections, key=lambda section: section.figure)
    ]


def _claims(columns: Sequence[Sequence[Section]]) -> list[list[tuple[Section, JudgedClaim] | None]]:
    """Return a row a claim that was judged, with what each place has on it, None where a place has nothing: the
    contradicted ones first.
    """
    rows: list[list[tuple[Section, JudgedClaim] | None]] = []
    for pair in side_by_side(columns):
        ran = [section for section in pair if section and section.was_run]
        listed = [
            {claim.id: (section, claim) for claim in section.claims} if section in ran else {} for section in pair
        ]
        names = dict.fromkeys(name for said in listed for name in said)
        rows += [[said.get(name) for said in listed] for name in names]
    order = ("contradicted", "inconclusive", *ORDER)
    return sorted(rows, key=lambda row: order.index(next(said[1].verdict for said in row if said)))


def _not_run(sections: Sequence[Section]) -> dict[str, int]:
    """Return how many claims were not judged, by the profile that they need."""
    waiting = [section.verdicts for section in sections if section.verdicts and not section.was_run]
    counts: Counter[str] = Counter()
    for one in waiting:
        counts[one.profile] += len(one.content.claims)
    return dict(counts)


def _all_drawings(sections: Sequence[Section]) -> dict[str, Any]:
    """Return every panel by the name that the page's script finds it by."""
    return {
        key: rounded(plainly(asdict(panel) | {"y_range": y_range}))
        for section in sections
        for drawing in section.drawings
        for (key, panel), y_range in zip(keyed_panels(section, drawing), y_ranges(drawing), strict=True)
    }


def keyed_panels(section: Section, drawing: Drawing) -> list[tuple[str, Panel]]:
    """Return all panels of a figure, row by row, each with the name that the page's script finds it by."""
    panels = [panel for row in drawing.rows for panel in row]
    return [(f"{section.anchor}-{drawing.name}-{number}", panel) for number, panel in enumerate(panels)]


def _manifests(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Return the manifest of every corpus once."""
    return list(
        {
            json.dumps(manifest, sort_keys=True): manifest
            for section in sections
            for manifest in map(plainly, section.provenance.data)
        }.values()
    )


def _maps(sections: Sequence[Section]) -> dict[str, Any]:
    """Return every heat map by the name that the page's script finds it by."""
    return {f"{section.anchor}-map": plainly(asdict(section.heat_map)) for section in sections if section.heat_map}
