"""A folder of results, as the page shows it; one that cannot be read is shown, too, with what is wrong."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.figures.folder import drawings, read_table, result_folders
from lnexp.figures.panels import Drawing
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Recipe
from lnexp.report.heat_map import HeatMap, heat_map
from lnexp.results.intervals import interval
from lnexp.results.outcomes import in_words
from lnexp.results.verdicts import RecipeVerdicts, read_verdict
from lnexp.runs.folder import DONE

#: Columns of ``runs.csv`` that a table by arm has the means of, and their titles.
MEASURES = {
    "best_valid_bleu": "best valid BLEU",
    "last_valid_bleu": "last valid BLEU",
    "best_valid_nll": "best valid nll",
    "test_bleu": "test BLEU",
    "averaged_test_bleu": "test BLEU, averaged checkpoints",
}


@dataclass(frozen=True)
class Section:
    """One folder of results.

    Attributes:
        folder: where it lies.
        name: ``profile/data/recipe``.
        verdicts: of its claims; None where they cannot be read.
        drawings: its figures.
        heat_map: of a recipe with many axes.
        outcomes: head and rows of the table of who trains, where the recipe has one.
        arms: rows of the table by arm, by column; of probes none.
        runs: the rows of ``runs.csv``.
        problems: what is wrong with it.
    """

    folder: Path
    name: str
    verdicts: RecipeVerdicts | None = None
    drawings: list[Drawing] = field(default_factory=list)
    heat_map: HeatMap | None = None
    outcomes: tuple[list[str], list[list[str]]] | None = None
    arms: list[dict[str, str]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """What links to it."""
        return "-".join(self.folder.parts)

    @property
    def title(self) -> str:
        content = self.verdicts.content if self.verdicts else {"figure": self.name, "title": "cannot be read"}
        return f"{content['figure']}: {content['title']}"

    @property
    def commands(self) -> list[str]:
        """What a reader types for the same."""
        claims = self.verdicts.content["claims"] if self.verdicts else []
        return list(dict.fromkeys(claim["command"] for claim in claims))


def find_sections(place: Path) -> list[Section]:
    """Those under a root of results, or the one that a folder is.

    Raises:
        UserError: where there is none.
    """
    folders = [place] if (place / "verdicts.json").is_file() else result_folders(place)
    if not folders:
        raise UserError(f"{place}: no results there; say a root of results, or a folder with a verdicts.json")
    return [read_section(folder) for folder in folders]


def read_section(folder: Path) -> Section:
    """Whatever of a folder can be read."""
    name = "/".join(folder.resolve().parts[-3:])
    try:
        verdicts = read_verdict(folder / "verdicts.json")
        recipe = load_recipe(verdicts.recipe)
        runs = [] if recipe.probe else _runs(folder)
        return Section(
            folder,
            name,
            verdicts,
            drawings(recipe, folder),
            None if recipe.probe else heat_map(recipe, runs),
            _outcomes(recipe, folder),
            _arms(recipe, runs),
            runs,
            verdicts.problems,
        )
    except (UserError, OSError, ValueError, KeyError, TypeError) as error:
        return Section(folder, name, problems=[f"{folder}: {type(error).__name__}: {error}"])


def _runs(folder: Path) -> list[dict[str, Any]]:
    table = read_table(folder / "runs.csv").astype(object)
    return [
        {str(key): value for key, value in row.items()} for row in table.where(table.notna(), None).to_dict("records")
    ]


def _outcomes(recipe: Recipe, folder: Path) -> tuple[list[str], list[list[str]]] | None:
    path = folder / "outcomes.csv"
    if not recipe.outcomes or not path.exists():
        return None
    table = read_table(path)
    return None if table.empty else in_words(recipe, table)


def _arms(recipe: Recipe, runs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A row an arm: how many of its runs are over, and the means with their intervals."""
    measures = {name: title for name, title in MEASURES.items() if any(run.get(name) is not None for run in runs)}
    rows = []
    for arm in recipe.arms.values():
        mine = [run for run in runs if run["arm"] == arm.name]
        over = [run for run in mine if run["status"] in DONE]
        diverged = sum(run["status"] == "diverged" for run in over)
        lost = f", {diverged} diverged" if diverged else ""
        row = {"arm": arm.label, "runs": f"{len(over)} of {len(mine)}{lost}"}
        for name, title in measures.items():
            row[title] = _mean([run[name] for run in over if run.get(name) is not None])
        rows.append(row)
    return rows if runs else []


def _mean(values: list[float]) -> str:
    found = interval(values)
    return str(found) if found else "–"
