"""Hold how a recipe sums up a sweep over rates and lengths of warm-up."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SweepSettings:
    """How a sweep over rates and lengths of warm-up is summed up.

    Attributes:
        initial_nll: the validation nll before training, nats a token: what a run counts with that diverged, and the
            most that any run counts with.
        within: how much more than the lowest nll of its rate, nats a token, a length of warm-up may have that is enough
            at that rate.
        good: the share of the way from the lowest mean nll of an arm to ``initial_nll`` that the nll of a good run is
            below.
        other_rate: the values of the axis of placements for which a rate may mean something else than for the others,
            as where a factor that is no weight scales branches; they are marked.
    """

    initial_nll: float
    within: float
    good: float
    other_rate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for numbers that make no sense."""
        if not (self.initial_nll > 0 and self.within > 0 and 0 < self.good < 1):
            raise ValueError("initial_nll and within must be above zero, and good between 0 and 1")

    @property
    def numbers(self) -> list[float]:
        """What decides values of measures."""
        return [self.initial_nll, self.within, self.good]
