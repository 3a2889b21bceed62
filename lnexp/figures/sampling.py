"""What figures and tables leave out where there is too much of it."""

import numpy as np


def evenly_spaced(values: list[float], most: int) -> list[float]:
    """At most so many of the values, the first and the last among them."""
    return [values[round(place)] for place in np.linspace(0, len(values) - 1, min(len(values), most))]
