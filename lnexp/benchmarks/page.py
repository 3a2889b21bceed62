"""The pages that benchmarks become."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lnexp.benchmarks.alternation import ArrayRounds
from lnexp.benchmarks.markdown import markdown
from lnexp.figures.line_styles import COLOURS
from lnexp.files import write_whole


def table(found: Sequence[ArrayRounds]) -> str:
    """A row a size, as a Markdown table."""
    rows = [one.cells() for one in found]
    return markdown(list(rows[0]), [list(row.values()) for row in rows])


def write_rounds(found: Sequence[ArrayRounds], title: str, figure: Figure, folder: Path, name: str) -> None:
    """The page of sizes that were measured in rounds."""
    machine = f"{found[0].device}; medians of {len(found[0].ours)} rounds, array and stock in alternation"
    write_page(found, title, machine, table(found), figure, folder, name)


def write_page(
    found: Sequence[Any], title: str, machine: str, table: str, figure: Figure, folder: Path, name: str
) -> None:
    """Write ``NAME.md``, ``NAME.json`` and ``NAME.png``, each with the machine named.

    Args:
        found: measurements, each a dataclass.
        title: what they are of.
        machine: what they were taken on, and how.
        table: they as Markdown.
        figure: they as a picture.
        folder: where to; made where there is none.
        name: of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.md", f"# {title}\n\n{machine}.\n\n{table}\n")
    write_whole(folder / f"{name}.json", json.dumps([asdict(one) for one in found], indent=1) + "\n")
    figure.suptitle(f"{title}\n{machine}", fontsize=8)
    FigureCanvasAgg(figure).print_png(str(folder / f"{name}.png"))


def plot_ratios(axes: Any, found: Sequence[ArrayRounds], what: str) -> None:
    """How many times as much of ``what`` arrays do in a second, by their size."""
    members, ratios = [one.members for one in found], [one.ratio for one in found]
    axes.axhline(1, color=COLOURS[1], linestyle="--", label="stock fairseq, one run after another")
    axes.plot(members, ratios, "o-", color=COLOURS[0], label="array")
    axes.set(xlabel="members", ylabel=f"{what} a second, ratio", xticks=members, ylim=(0, 1.1 * max(1, *ratios)))
    axes.legend()
