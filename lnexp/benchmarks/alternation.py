"""Two sides measured in turn: what a noisy machine does to one, it does to its neighbour, too."""

import statistics
from dataclasses import dataclass


@dataclass
class Rounds:
    """What each side did in a second, a value a round; the rounds of both alternate.

    Attributes:
        ours: lnexp.
        stock: what it is compared with.
    """

    ours: list[float]
    stock: list[float]

    @property
    def medians(self) -> tuple[float, float]:
        """Of ours and of stock."""
        return statistics.median(self.ours), statistics.median(self.stock)

    @property
    def ratio(self) -> float:
        """Median of the ratios of neighbouring rounds; above 1 we are faster."""
        return statistics.median(ours / stock for ours, stock in zip(self.ours, self.stock, strict=True))


@dataclass
class ArrayRounds(Rounds):
    """One size of array and stock fairseq.

    Attributes:
        members: S; what ``ours`` counts is that of all members together.
        device: what was measured on.
    """

    members: int
    device: str

    def cells(self) -> dict[str, str]:
        """Its row of a table, by column."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a table shows of it")
