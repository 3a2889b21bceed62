"""Lay out text for a terminal of 80 columns: lines of at most 76 characters, and a line that stays at the bottom."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

#: The longest line, in characters; four are left for what a terminal or a reader puts around it.
WIDTH = 76


def filled(text: str, indent: int = 2) -> str:
    """Return text in lines of at most :data:`WIDTH` characters, indented from the second on; no word is broken."""
    return textwrap.fill(text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def shortened(text: str, width: int = WIDTH) -> str:
    """Return text in at most ``width`` characters; an ellipsis stands for its end where that does not fit."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


class Footer:
    """A line at the bottom of the terminal while other lines are printed above it; a context manager.

    Args:
        console: where it is shown.
        is_shown: whether it is; else nothing is ever printed.
    """

    def __init__(self, console: Console, is_shown: bool):
        self.is_shown = is_shown
        self._live = Live(console=console, auto_refresh=False, transient=True) if is_shown else None

    def __enter__(self) -> "Footer":
        if self._live:
            self._live.start()
            self._live.console.show_cursor(True)  # a signal that ends the process would leave it hidden
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def update(self, text: str) -> None:
        """Show another line."""
        if self._live:
            self._live.update(Text(shortened(text), style="dim"), refresh=True)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the line away while a block, or a process that it starts, writes to the terminal itself."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
