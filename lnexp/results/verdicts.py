"""Collect all verdicts under ``results/``, and show them on a page and in a terminal."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.published import result_folders
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.recipe import Claim, Recipe
from lnexp.results.claims import judge_all
from lnexp.results.verdict_file import JudgedClaim, Verdicts, read_verdicts

#: What a recipe states of a claim: a published verdict must have been found by this very test.
STATED = ("source", "paper", "scope", "holds_if")


@dataclass(frozen=True)
class RecipeVerdicts:
    """The verdicts of one recipe on one corpus.

    Attributes:
        path: of its ``verdicts.json``.
        content: of that file; where the recipe was not run, of the file that would say so.
        was_run: whether there is such a file.
    """

    path: Path
    content: Verdicts
    was_run: bool = True

    @property
    def profile(self) -> str:
        return self.path.parts[-4]

    @property
    def data(self) -> str:
        return self.path.parts[-3]

    @property
    def recipe(self) -> str:
        return self.content.recipe

    def has(self, **wanted: str | None) -> bool:
        """Return whether it is of this ``profile``, ``data`` and ``recipe``; None stands for any."""
        return all(value is None or getattr(self, key) == value for key, value in wanted.items())

    @property
    def problems(self) -> list[str]:
        """What is malformed in the runs behind it, and where it differs from what the recipe states."""
        found = [f"{self.path.parent}: {problem}" for problem in self.content.malformed]
        try:
            recipe = load_recipe(self.recipe)
        except UserError as error:
            return [*found, f"{self.path}: {error}"]
        if _tests(recipe.claims) != _tests(self.content.claims):
            found.append(f"{self.path}: its claims are not those of recipe {self.recipe}; collect again")
        again = "probe again" if recipe.measurement else "train and collect again"
        if self.content.settings != recipe.settings_hash:
            found.append(f"{self.path}: its arms are not those of recipe {self.recipe}; {again}")
        return found


def _tests(claims: Iterable[Claim]) -> dict[str, list[Any]]:
    """Return what a recipe states of its claims, by their names."""
    return {claim.id: [getattr(claim, key) for key in STATED] for claim in claims}


def all_verdicts(results_dir: Path) -> list[RecipeVerdicts]:
    """Read every ``verdicts.json``. Raises UserError for one that is malformed."""
    paths = [folder / "verdicts.json" for folder in result_folders(results_dir)]
    return [RecipeVerdicts(path, read_verdicts(path)) for path in paths]


def not_run(results_dir: Path, found: list[RecipeVerdicts]) -> list[RecipeVerdicts]:
    """Return the recipes that have no results on their own corpus, by profile: all their claims are ``not run``."""
    there = {(verdicts.profile, verdicts.data, verdicts.recipe) for verdicts in found}
    missing = []
    for name in recipe_names():
        recipe = load_recipe(name)
        for profile, setting in recipe.profiles.items():
            if (profile, setting.data, name) not in there:
                path = results_dir / profile / setting.data / name / "verdicts.json"
                missing.append(RecipeVerdicts(path, _nothing(recipe, profile, setting.data), was_run=False))
    return missing


def _nothing(recipe: Recipe, profile: str, data: str) -> Verdicts:
    """Return the verdicts of a recipe that was not run."""
    how = f"reproduce.py +recipe={recipe.name} profile={profile} data={data}"
    if recipe.measurement:
        how = f"probe.py +recipe={recipe.name}"
    return judge_all(recipe, [], f"profile {profile}, data {data}", f"python scripts/{how}")


def as_terminal_table(shown: list[RecipeVerdicts], width: int) -> str:
    """Return verdicts as tables about ``width`` characters wide; they need a hundred to be readable."""
    blocks = []
    for verdicts in shown:
        if not verdicts.was_run:
            continue
        rows = [_row(claim, "\n") for claim in verdicts.content.claims]
        widths = [28, max(20, (width - 76) // 2), max(30, (width - 60) // 2), 14]
        table = tabulate(rows, headers=HEADERS, tablefmt="rounded_grid", maxcolwidths=widths)
        blocks.append(f"{_title(verdicts)}\n{table}")
    return "\n\n".join([*blocks, *_not_run_lines(shown), _count(shown)])


def _not_run_lines(shown: list[RecipeVerdicts]) -> list[str]:
    """Return one paragraph on all that is still to be run; none where nothing is."""
    lines = [
        f"  {verdicts.recipe} ({verdicts.content.figure}), {verdicts.content.scope}:"
        f" {len(verdicts.content.claims)} claims"
        for verdicts in shown
        if not verdicts.was_run
    ]
    return ["\n".join(["not run:", *lines])] if lines else []


def _count(shown: list[RecipeVerdicts]) -> str:
    """Return how many claims have which verdict."""
    counted = Counter(claim.verdict for verdicts in shown for claim in verdicts.content.claims)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in counted.most_common())
    return f"{counted.total()} claims: {counts or 'no such results'}"


def as_page(shown: list[RecipeVerdicts]) -> str:
    """Return the content of ``results/verdicts.md``."""
    parts = [
        "# Verdicts",
        "Every claim of every recipe, judged on the runs under `results/`. The test of a claim stands in its recipe and"
        " was fixed before the runs. The margin is by how much the test holds, mean over seeds with its 95% interval;"
        " a verdict needs the whole interval on one side of zero.",
    ]
    for verdicts in shown:
        rows = [_row(claim, "<br>") for claim in verdicts.content.claims]
        table = tabulate(rows, headers=HEADERS, tablefmt="github")
        link = "/".join(verdicts.path.parts[-4:-1])
        parts += [f"## [{_title(verdicts)}]({link}/table.md)", table]
    return "\n\n".join(parts) + "\n"


def write_page(results_dir: Path) -> None:
    """Write ``verdicts.md``, the page of all verdicts under a folder of results."""
    write_whole(results_dir / "verdicts.md", as_page(all_verdicts(results_dir)))


HEADERS = ("claim", "the paper", "ours", "verdict")


def _title(verdicts: RecipeVerdicts) -> str:
    return f"{verdicts.content.figure}, {verdicts.recipe}: {verdicts.content.scope}"


def _row(claim: JudgedClaim, line_break: str) -> tuple[str, str, str, str]:
    paper = ", ".join(f"{arm} {number}" for arm, number in claim.paper.items())
    measured = [f"{call} {numbers}" for call, numbers in claim.measured.items()]
    ours = line_break.join([*measured, f"test: {claim.holds_if}", f"margin {claim.margin_text}"])
    return claim.id, line_break.join(filter(None, (claim.source, paper))), ours, claim.verdict
