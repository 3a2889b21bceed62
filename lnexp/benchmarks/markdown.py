"""Tables of measurements, as a terminal and a page show them."""

from collections.abc import Sequence

from tabulate import tabulate


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, whose cells stay as they are."""
    return tabulate(rows, columns, tablefmt="github", disable_numparse=True)
