"""How well a number tells runs that fail from runs that do not."""

import pandas as pd
from scipy.stats import mannwhitneyu


def share_in_order(failed: pd.Series, said: pd.Series) -> float | None:
    """Return the share of the pairs of a run that failed and one that did not in which the former has the greater
    number: the area under the ROC curve, Mann and Whitney's U over the number of pairs. A tie is half a pair.

    Args:
        failed: whether each run did.
        said: the number of each run.

    Returns:
        The share; None where all runs failed, or none did.
    """
    bad, good = said[failed], said[~failed]
    if bad.empty or good.empty:
        return None
    return float(mannwhitneyu(bad, good, method="asymptotic").statistic) / (len(bad) * len(good))
