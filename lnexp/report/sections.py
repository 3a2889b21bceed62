"""Read folders of results as sections of the page; one that cannot be read is shown too, with what is wrong."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lnexp.errors import UserError
from lnexp.figures.folder import drawings
from lnexp.figures.panels import Drawing
from lnexp.paths import is_published
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.report.dots import DotRow, dot_rows
from lnexp.report.heat_map import HeatMap, heat_map
from lnexp.report.robust import what_is_wrong
from lnexp.result_tables import read_table, result_folders
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.results.judging.verdict_file import JudgedClaim, read_verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts, not_run, sound_recipes
from lnexp.results.pages.corpora import names_of_corpora
from lnexp.results.pages.outcomes_page import for_people
from lnexp.results.pages.published_folder import readable_folder
from lnexp.results.tables.run_tables import arms_table
from lnexp.tasks import load_task
from lnexp.tasks.contract import Task

#: Letters that tell the sections of two places apart in links.
PLACES = "ab"


@dataclass(frozen=True)
class Section:
    """One folder of results.

    Attributes:
        folder: its path.
        place: the number of the place that it is from, where two are compared.
        verdicts: of its claims; None where they cannot be read.
        task: of its runs; None where nothing was trained, or it is not known.
        drawings: its figures.
        heat_map: of a recipe with many axes.
        dots: the final loss of every run by arm, of a recipe with many arms that no axes order.
        outcomes: head and rows of the table of who trains, where the recipe has one.
        arms: rows of the table by arm, by column; of probes none.
        runs: the rows of ``runs.csv``, and in ``tokens_per_second`` the speed of their last epoch.
        provenance: data, environments and commands behind it.
        problems: what is wrong with it.
        corpus: the name of its corpus, with the profile where the place has that corpus at two.
    """

    folder: Path
    place: int
    verdicts: RecipeVerdicts | None = None
    task: Task | None = None
    drawings: list[Drawing] = field(default_factory=list)
    heat_map: HeatMap | None = None
    dots: list[DotRow] = field(default_factory=list)
    outcomes: tuple[list[str], list[list[str]]] | None = None
    arms: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    provenance: Provenance = field(default_factory=Provenance)
    problems: list[str] = field(default_factory=list)
    corpus: str = ""

    @property
    def name(self) -> str:
        """``profile/data/recipe``."""
        return "/".join(self.folder.resolve().parts[-3:])

    @property
    def recipe(self) -> str:
        """The name of the recipe."""
        return self.folder.resolve().name

    @property
    def anchor(self) -> str:
        """The name by which links of the page find it."""
        return re.sub(r"[^\w-]+", "-", f"{PLACES[self.place]}-{self.name}")

    @property
    def was_run(self) -> bool:
        """Whether there are results to show beside the claims."""
        return self.verdicts is None or self.verdicts.was_run

    @property
    def title(self) -> str:
        if self.verdicts is None:
            return f"{self.name}: cannot be read"
        return f"{self.verdicts.content.figure}: {self.verdicts.content.title}"

    @property
    def figure(self) -> str:
        """What of the paper it is, as ``Fig. 2(a)``; its name where it cannot be read."""
        return self.verdicts.content.figure if self.verdicts else self.name

    @property
    def claims(self) -> list[JudgedClaim]:
        return self.verdicts.content.claims if self.verdicts else []

    @property
    def command(self) -> str:
        """What a reader types for the same; empty where nothing says it."""
        return self.verdicts.content.command if self.verdicts else ""


def by_title(sections: Iterable[Section]) -> list[tuple[str, list[Section]]]:
    """Return sections by their title, in the order of the paper's figures; in one title they differ in their corpus."""
    of_title: dict[str, list[Section]] = {}
    for section in sorted(sections, key=lambda section: (section.figure, section.title)):
        of_title.setdefault(section.title, []).append(section)
    return list(of_title.items())


def find_sections(root: Path, place: int) -> list[Section]:
    """Return the sections of a root of results, or of a single folder of results.

    Where it is the root of the published ones, the recipes that were not run are among them.

    Raises:
        UserError: where there are no results.
    """
    if is_of_one_figure(root):
        return _named([read_section(root, place)])
    folders = result_folders(root)
    if not folders and (root / "runs.csv").is_file():
        raise UserError(f"{root}: a set of runs, which has {root / 'table.md'}; a page shows recipes")
    if not folders:
        raise UserError(f"{root}: no results there; say a root of results, or a folder with a verdicts.json")
    found = [read_section(folder, place) for folder in folders]
    if not is_published(root):
        return _named(found)
    read = [section.verdicts for section in found if section.verdicts]
    return _named(found + [Section(one.path.parent, place, one) for one in not_run(root, read, sound_recipes()[0])])


def _named(sections: list[Section]) -> list[Section]:
    """Return sections with the names of their corpora; those that were run have the names that the front has."""
    names = names_of_corpora(map(_profile_and_data, sections))
    names |= names_of_corpora(_profile_and_data(section) for section in sections if section.was_run)
    return [replace(section, corpus=names[_profile_and_data(section)]) for section in sections]


def _profile_and_data(section: Section) -> tuple[str, str]:
    profile, data, _ = section.folder.resolve().parts[-3:]
    return profile, data


def is_of_one_figure(place: Path) -> bool:
    """Return whether a place is the folder of results of one recipe, and not a root of such folders."""
    return (place / "verdicts.json").is_file()


def read_section(folder: Path, place: int) -> Section:
    """Read a folder of results, as much of it as can be read."""
    try:
        path = folder / "verdicts.json"
        verdicts = RecipeVerdicts(path, read_verdicts(path))
    except Exception as error:
        return Section(folder, place, problems=[what_is_wrong(folder, error)])
    provenance, problems = _provenance(folder)
    try:
        problems += verdicts.problems
        return _whole(folder, place, verdicts, provenance, problems)
    except Exception as error:
        problems.append(what_is_wrong(folder, error))
        return Section(folder, place, verdicts, provenance=provenance, problems=problems)


def _whole(folder: Path, place: int, verdicts: RecipeVerdicts, provenance: Provenance, problems: list[str]) -> Section:
    recipe = recipe_of_results(folder, verdicts.recipe)
    drawn = drawings(recipe, folder)
    section = Section(folder, place, verdicts, drawings=drawn, provenance=provenance, problems=problems)
    if recipe.measurement:
        return section
    table = read_table(folder / "runs.csv")
    runs = _runs(folder, table)
    return replace(
        section,
        task=load_task(recipe.task),
        runs=runs,
        heat_map=heat_map(recipe, runs),
        dots=dot_rows(recipe, table),
        outcomes=_outcomes(recipe, folder),
        arms=arms_table(recipe, table, _divided(folder)),
    )


def _divided(folder: Path) -> set[str]:
    """Return the arms whose runs disagree; none where damaged files do not tell, which their problems say."""
    known = readable_folder(folder)
    return known.divided if known else set()


def _provenance(folder: Path) -> tuple[Provenance, list[str]]:
    try:
        return read_provenance(folder), []
    except Exception as error:
        return Provenance(), [what_is_wrong(folder / "provenance.json", error)]


def _runs(folder: Path, table: pd.DataFrame) -> list[dict[str, Any]]:
    epochs = read_table(folder / "epochs.csv")
    if "tokens_per_second" in epochs:
        speeds = epochs.groupby("identity")["tokens_per_second"].last()
        table = table.assign(tokens_per_second=table["identity"].map(speeds))
    known = table.astype(object).where(table.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in known.to_dict("records")]


def _outcomes(recipe: Recipe, folder: Path) -> tuple[list[str], list[list[str]]] | None:
    path = folder / "outcomes.csv"
    if not recipe.outcomes or not path.exists():
        return None
    table = read_table(path)
    return None if table.empty else for_people(recipe, table)
