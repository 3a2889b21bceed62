"""What plots of arrays against stock fairseq share."""

from collections.abc import Sequence
from typing import Any

from lnexp.results.figures import COLOURS


def plot_ratios(axes: Any, members: Sequence[int], ratios: Sequence[float], what: str) -> None:
    """How many times as much of ``what`` arrays do in a second, by their size."""
    axes.axhline(1, color=COLOURS[1], linestyle="--", label="stock fairseq, one run after another")
    axes.plot(members, ratios, "o-", color=COLOURS[0], label="array")
    axes.set(xlabel="members", ylabel=f"{what} a second, ratio", xticks=members, ylim=(0, None))
    axes.legend()
