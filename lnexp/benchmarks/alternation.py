"""Compare two rates that were measured in alternating rounds, so that noise of the machine affects both."""

import statistics
from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass
class AlternatingRates:
    """Rates of lnexp and of what it is compared with, a value a round each; their rounds alternated.

    Attributes:
        ours: of lnexp, per second.
        stock: of stock fairseq or another program, per second.
    """

    ours: list[float]
    stock: list[float]

    @property
    def medians(self) -> tuple[float, float]:
        """The medians of ``ours`` and of ``stock``."""
        return statistics.median(self.ours), statistics.median(self.stock)

    @property
    def ratio(self) -> float:
        """The median of the ratios of neighbouring rounds; above 1 lnexp is faster."""
        return statistics.median(ours / stock for ours, stock in zip(self.ours, self.stock, strict=True))


@dataclass
class ArrayRates(AlternatingRates, ABC):
    """Rates of one size of array and of stock fairseq.

    Attributes:
        members: number of runs in the array; ``ours`` is the rate of all members together.
        device: name of the device.
    """

    members: int
    device: str

    @abstractmethod
    def cells(self) -> dict[str, str]:
        """Return the row of a table, by column."""
