"""All verdicts under ``results/``, for a page and for a terminal."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from lnexp.errors import UserError
from lnexp.results.intervals import Interval

REQUIRED = ("id", "source", "paper", "verdict", "arms", "command", "holds_if", "why", "margin")


@dataclass(frozen=True)
class RecipeVerdicts:
    """What one ``verdicts.json`` says."""

    path: Path
    content: dict[str, Any]

    @property
    def profile(self) -> str:
        return self.path.parts[-4]

    @property
    def data(self) -> str:
        return self.path.parts[-3]

    @property
    def recipe(self) -> str:
        return self.content["recipe"]


def read_verdicts(results_dir: Path, **wanted: str | None) -> list[RecipeVerdicts]:
    """Every ``verdicts.json``, or those of one ``profile``, ``data`` or ``recipe``.

    Raises:
        UserError: for a file that is malformed.
    """
    found = [_read(path) for path in sorted(results_dir.glob("*/*/*/verdicts.json"))]
    return [
        verdicts
        for verdicts in found
        if all(value is None or getattr(verdicts, key) == value for key, value in wanted.items())
    ]


def _read(path: Path) -> RecipeVerdicts:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        for claim in content["claims"]:
            missing = [key for key in REQUIRED if key not in claim]
            if missing:
                raise KeyError(", ".join(missing))
        for key in ("recipe", "figure", "title", "scope"):
            content[key]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: malformed ({type(error).__name__}: {error})") from error
    return RecipeVerdicts(path, content)


def as_terminal_table(all_verdicts: list[RecipeVerdicts], width: int) -> str:
    """The verdicts as tables about ``width`` characters wide; they need a hundred to be readable."""
    if not all_verdicts:
        return "no verdicts yet: run make reproduce-iwslt"
    blocks = []
    for verdicts in all_verdicts:
        rows = [_row(claim, "\n") for claim in verdicts.content["claims"]]
        widths = [28, max(20, (width - 76) // 2), max(30, (width - 60) // 2), 14]
        table = tabulate(rows, headers=HEADERS, tablefmt="rounded_grid", maxcolwidths=widths)
        blocks.append(f"{_title(verdicts)}\n{table}")
    return "\n\n".join([*blocks, _count(all_verdicts)])


def _count(all_verdicts: list[RecipeVerdicts]) -> str:
    """How many claims have which verdict."""
    counted = Counter(claim["verdict"] for verdicts in all_verdicts for claim in verdicts.content["claims"])
    return f"{counted.total()} claims: {', '.join(f'{number} {verdict}' for verdict, number in counted.most_common())}"


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


HEADERS = ("claim", "the paper", "ours", "verdict")


def _title(verdicts: RecipeVerdicts) -> str:
    return f"{verdicts.content['figure']}, {verdicts.recipe}: {verdicts.content['scope']}"


def _row(claim: dict[str, Any], line_break: str) -> tuple[str, str, str, str]:
    paper = ", ".join(f"{arm} {number}" for arm, number in claim["paper"].items())
    measured = [f"{_call(name, arm)} {_numbers(arm)}" for name, arm in claim["arms"].items()]
    ours = line_break.join([*measured, f"test: {claim['holds_if']}", f"margin {_numbers(claim['margin'])}"])
    return claim["id"], line_break.join(filter(None, (claim["source"], paper))), ours, claim["verdict"]


def _call(name: str, arm: dict[str, Any]) -> str:
    return name if "(" in name else f"{arm['measure']}({name})"


def _numbers(content: dict[str, Any] | None) -> str:
    if not content or content["mean"] is None:
        return "–"
    return str(Interval(**{key: content[key] for key in ("mean", "low", "high", "n")}))
