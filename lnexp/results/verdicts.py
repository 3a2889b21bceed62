"""All verdicts under ``results/``, for a page and for a terminal."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.published import result_folders
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.recipe import Recipe
from lnexp.results.claims import judge, verdict_of
from lnexp.results.intervals import Interval

REQUIRED = ("id", "source", "paper", "scope", "verdict", "arms", "command", "holds_if", "why", "margin")
#: What a recipe states of a claim: a published verdict must have been found by this very test.
STATED = ("source", "paper", "scope", "holds_if")


@dataclass(frozen=True)
class RecipeVerdicts:
    """What one ``verdicts.json`` says, or would say where the recipe was not run."""

    path: Path
    content: dict[str, Any]
    was_run: bool = True

    @property
    def profile(self) -> str:
        return self.path.parts[-4]

    @property
    def data(self) -> str:
        return self.path.parts[-3]

    @property
    def recipe(self) -> str:
        return self.content["recipe"]

    def has(self, **wanted: str | None) -> bool:
        """Whether it is of this ``profile``, ``data`` and ``recipe``, as far as they are given."""
        return all(value is None or getattr(self, key) == value for key, value in wanted.items())

    @property
    def problems(self) -> list[str]:
        """What is malformed in the runs behind it, and where it is not what the recipe states."""
        found = [f"{self.path.parent}: {problem}" for problem in self.content["malformed"]]
        try:
            recipe = load_recipe(self.recipe)
        except UserError as error:
            return [*found, f"{self.path}: {error}"]
        stated = {claim.id: asdict(claim) for claim in recipe.claims}
        published = {claim["id"]: claim for claim in self.content["claims"]}
        same = stated.keys() == published.keys() and all(
            published[name][key] == claim[key] for name, claim in stated.items() for key in STATED
        )
        if not same:
            found.append(f"{self.path}: its claims are not those of recipe {self.recipe}; collect again")
        again = "probe again" if recipe.measurement else "train and collect again"
        if self.content["settings"] != recipe.settings_hash:
            found.append(f"{self.path}: its arms are not those of recipe {self.recipe}; {again}")
        return found


def read_verdicts(results_dir: Path) -> list[RecipeVerdicts]:
    """Every ``verdicts.json``.

    Raises:
        UserError: for a file that is malformed.
    """
    return [read_verdict(folder / "verdicts.json") for folder in result_folders(results_dir)]


def not_run(results_dir: Path, found: list[RecipeVerdicts]) -> list[RecipeVerdicts]:
    """The recipes that have no results on their own corpus, by profile, with all their claims ``not run``."""
    there = {(verdicts.profile, verdicts.data, verdicts.recipe) for verdicts in found}
    missing = []
    for name in recipe_names():
        recipe = load_recipe(name)
        for profile, setting in recipe.profiles.items():
            if (profile, setting.data, name) not in there:
                path = results_dir / profile / setting.data / name / "verdicts.json"
                missing.append(RecipeVerdicts(path, _nothing(recipe, profile, setting.data), was_run=False))
    return missing


def _nothing(recipe: Recipe, profile: str, data: str) -> dict[str, Any]:
    how = f"reproduce.py +recipe={recipe.name} profile={profile} data={data}"
    if recipe.measurement:
        how = f"probe.py +recipe={recipe.name}"
    return {
        "recipe": recipe.name,
        "figure": recipe.figure,
        "title": recipe.title,
        "scope": f"profile {profile}, data {data}",
        "malformed": [],
        "settings": recipe.settings_hash,
        "claims": [judge(claim, recipe, []).to_json(f"python scripts/{how}") for claim in recipe.claims],
    }


def read_verdict(path: Path) -> RecipeVerdicts:
    """One ``verdicts.json``. Raises UserError where it is malformed."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        for claim in content["claims"]:
            _check(claim)
        for key in ("recipe", "figure", "title", "scope", "settings"):
            _check_text(key, content[key])
        for problem in content["malformed"]:
            _check_text("malformed", problem)
        if len({claim["id"] for claim in content["claims"]}) != len(content["claims"]):
            raise ValueError("a claim is there twice")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: malformed ({type(error).__name__}: {error})") from error
    return RecipeVerdicts(path, content)


def _check(claim: dict[str, Any]) -> None:
    """Raises KeyError, TypeError or ValueError where it is no claim, or its verdict is not what its margin says."""
    missing = [key for key in REQUIRED if key not in claim]
    if missing:
        raise KeyError(", ".join(missing))
    for key in ("id", "source", "scope", "verdict", "command", "holds_if", "why"):
        _check_text(key, claim[key])
    if not isinstance(claim["paper"], dict):
        raise TypeError(f"{claim['id']}: paper is no object")
    for name, arm in claim["arms"].items():
        call(name, arm)
        numbers(arm)
    margin = None if claim["margin"] is None else _interval(claim["margin"])
    if claim["verdict"] != verdict_of(margin):
        raise ValueError(f"{claim['id']}: {claim['verdict']} is not what its margin says")


def _check_text(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text")


def _interval(content: dict[str, Any]) -> Interval:
    values = {key: content[key] for key in ("mean", "low", "high", "n")}
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise TypeError(f"{key} is no number")
    return Interval(**values)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def as_terminal_table(all_verdicts: list[RecipeVerdicts], width: int) -> str:
    """The verdicts as tables about ``width`` characters wide; they need a hundred to be readable."""
    blocks = []
    for verdicts in all_verdicts:
        if not verdicts.was_run:
            continue
        rows = [_row(claim, "\n") for claim in verdicts.content["claims"]]
        widths = [28, max(20, (width - 76) // 2), max(30, (width - 60) // 2), 14]
        table = tabulate(rows, headers=HEADERS, tablefmt="rounded_grid", maxcolwidths=widths)
        blocks.append(f"{_title(verdicts)}\n{table}")
    return "\n\n".join([*blocks, *_not_run_lines(all_verdicts), _count(all_verdicts)])


def _not_run_lines(all_verdicts: list[RecipeVerdicts]) -> list[str]:
    """One paragraph of all that is still to be run."""
    lines = [
        f"  {verdicts.recipe} ({verdicts.content['figure']}), {verdicts.content['scope']}:"
        f" {len(verdicts.content['claims'])} claims"
        for verdicts in all_verdicts
        if not verdicts.was_run
    ]
    return ["\n".join(["not run:", *lines])] if lines else []


def _count(all_verdicts: list[RecipeVerdicts]) -> str:
    """How many claims have which verdict."""
    counted = Counter(claim["verdict"] for verdicts in all_verdicts for claim in verdicts.content["claims"])
    counts = ", ".join(f"{number} {verdict}" for verdict, number in counted.most_common())
    return f"{counted.total()} claims: {counts or 'no such results'}"


def as_page(all_verdicts: list[RecipeVerdicts]) -> str:
    """``results/verdicts.md``."""
    parts = [
        "# Verdicts",
        "Every claim of every recipe, judged on the runs under `results/`. The test of a claim stands in its recipe and"
        " was fixed before the runs. The margin is by how much the test holds, mean over seeds with its 95% interval;"
        " a verdict needs the whole interval on one side of zero.",
    ]
    for verdicts in all_verdicts:
        rows = [_row(claim, "<br>") for claim in verdicts.content["claims"]]
        table = tabulate(rows, headers=HEADERS, tablefmt="github")
        link = "/".join(verdicts.path.parts[-4:-1])
        parts += [f"## [{_title(verdicts)}]({link}/table.md)", table]
    return "\n\n".join(parts) + "\n"


def write_page(results_dir: Path) -> None:
    """Write ``verdicts.md`` over all that lies under a folder of results."""
    write_whole(results_dir / "verdicts.md", as_page(read_verdicts(results_dir)))


HEADERS = ("claim", "the paper", "ours", "verdict")


def _title(verdicts: RecipeVerdicts) -> str:
    return f"{verdicts.content['figure']}, {verdicts.recipe}: {verdicts.content['scope']}"


def _row(claim: dict[str, Any], line_break: str) -> tuple[str, str, str, str]:
    paper = ", ".join(f"{arm} {number}" for arm, number in claim["paper"].items())
    measured = [f"{call(name, arm)} {numbers(arm)}" for name, arm in claim["arms"].items()]
    ours = line_break.join([*measured, f"test: {claim['holds_if']}", f"margin {numbers(claim['margin'])}"])
    return claim["id"], line_break.join(filter(None, (claim["source"], paper))), ours, claim["verdict"]


def call(name: str, arm: dict[str, Any]) -> str:
    """What was measured of an arm."""
    return name if "(" in name else f"{arm['measure']}({name})"


def numbers(content: dict[str, Any] | None) -> str:
    """A mean with its interval, of an arm or a margin; a dash where there is none."""
    if not content or content["mean"] is None:
        return "–"
    return str(_interval(content))
