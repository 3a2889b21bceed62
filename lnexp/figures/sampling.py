"""Choose which values figures and tables show where there are too many."""

import numpy as np


def evenly_spaced(values: list[float], most: int) -> list[float]:
    """Return ``most`` of the values at most, the first and the last among them."""
    return [values[round(place)] for place in np.linspace(0, len(values) - 1, min(len(values), most))]
