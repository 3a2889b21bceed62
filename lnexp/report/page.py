"""Render the page: one HTML file with everything in it, nothing from a network."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lnexp.figures.panels import Drawing, Panel
from lnexp.report.descriptions import corpus, in_words, made_on
from lnexp.report.robust import plainly, what_is_wrong
from lnexp.report.run_rows import Runs
from lnexp.report.sections import PLACES, Section
from lnexp.results.tally import tally
from lnexp.results.verdict_file import JudgedClaim
from lnexp.results.verdict_pages import HOW_TO_READ


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
    page = environment.get_template("report.html.jinja").render(
        rows=[pair for pair in side_by_side(columns) if any(section and section.was_run for section in pair)],
        names=names,
        sections=[section for section in sections if section.was_run],
        tallies=tallies,
        counts=[of_place.verdicts for of_place in tallies],
        how_to_read=HOW_TO_READ,
        claims=_claims(columns),
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
    environment.globals.update(keyed_panels=keyed_panels, in_words=in_words, made_on=made_on, corpus=corpus)
    return environment


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


def _claims(columns: Sequence[Sequence[Section]]) -> list[list[tuple[Section, JudgedClaim] | None]]:
    """Return a row a claim, with what each place has on it; None where a place has nothing."""
    rows: list[list[tuple[Section, JudgedClaim] | None]] = []
    for pair in side_by_side(columns):
        listed = [{claim.id: (section, claim) for claim in section.claims} if section else {} for section in pair]
        names = dict.fromkeys(name for said in listed for name in said)
        rows += [[said.get(name) for said in listed] for name in names]
    return rows


def _all_drawings(sections: Sequence[Section]) -> dict[str, Any]:
    """Return every panel by the name that the page's script finds it by."""
    return {
        key: plainly(asdict(panel))
        for section in sections
        for drawing in section.drawings
        for key, panel in keyed_panels(section, drawing)
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
