"""Write the results of a benchmark as Markdown, JSON and a plot."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from lnexp.benchmarks.alternation import ArrayRates
from lnexp.figures.line_styles import BLUE, ORANGE
from lnexp.files import write_json, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with the cells unchanged."""
    return tabulate(rows, columns, tablefmt="github", disable_numparse=True)


def table(found: Sequence[ArrayRates]) -> str:
    """Return a Markdown table with a row for each size of array."""
    rows = [one.cells() for one in found]
    return markdown(list(rows[0]), [list(row.values()) for row in rows])


def write_array_page(found: Sequence[ArrayRates], title: str, figure: "Figure", folder: Path, name: str) -> None:
    """Write the page of a benchmark that compared arrays with stock fairseq; see :func:`write_page`."""
    rounds = [len(one.ours) for one in found]
    number = " to ".join(str(count) for count in sorted({min(rounds), max(rounds)}))
    machine = f"{found[0].device}; medians of {number} rounds, array and stock in alternation"
    write_page(found, title, machine, table(found), figure, folder, name)


def write_page(
    found: Sequence[Any], title: str, machine: str, table: str, figure: "Figure", folder: Path, name: str
) -> None:
    """Write ``NAME.md``, ``NAME.json`` and ``NAME.png``, each with the name of the machine.

    Args:
        found: the results, each a dataclass.
        title: of the page.
        machine: where and how they were measured.
        table: the results in Markdown.
        figure: the results as a plot.
        folder: to write to; created where it is missing.
        name: of the files.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.md", f"# {title}\n\n{machine}.\n\n{table}\n")
    write_json(folder / f"{name}.json", [asdict(one) for one in found], indent=1)
    figure.suptitle(f"{title}\n{machine}", fontsize=8)
    FigureCanvasAgg(figure).print_png(str(folder / f"{name}.png"))


def plot_ratios(axes: Any, found: Sequence[ArrayRates], what: str) -> None:
    """Plot the ratio of the rates of arrays and of stock fairseq, by size; ``what`` names the unit."""
    members, ratios = [one.members for one in found], [one.ratio for one in found]
    axes.axhline(1, color=ORANGE, linestyle="--", label="stock fairseq, one run after another")
    axes.plot(members, ratios, "o-", color=BLUE, label="array")
    highest = 1.4 * max(1, *ratios)  # the legend is above the line
    axes.set(xlabel="members", ylabel=f"{what} a second, ratio", xticks=members, ylim=(0, highest))
    axes.legend(loc="upper left")
