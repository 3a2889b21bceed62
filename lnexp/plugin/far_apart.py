"""Make seeds that lie far apart: fairseq adds the epoch or the update to a seed, and seeds are often neighbours."""

import numpy as np


def far_apart(seed: int) -> int:
    """Return a seed of 31 bits by hashing one: sums of it and an epoch or an update fit into the 32 bits of NumPy."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0] >> 1)
