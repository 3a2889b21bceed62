"""Read the tables that ``make bench`` published, for templates of pages."""

from pathlib import Path
from typing import NamedTuple


class BenchmarkTable(NamedTuple):
    """A page of a benchmark: its title without the mark of a heading, and the text and table below it."""

    title: str
    body: str


def benchmark_tables(folder: Path) -> dict[str, BenchmarkTable]:
    """Return the pages below ``results/bench``, by ``<profile>-<machine>/<benchmark>``, in the order of their names."""
    tables = {}
    for path in sorted(folder.glob("*/*.md")):
        title, _, body = path.read_text(encoding="utf-8").partition("\n")
        tables[path.relative_to(folder).with_suffix("").as_posix()] = BenchmarkTable(title.lstrip("# "), body.strip())
    return tables
