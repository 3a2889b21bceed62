"""The share of pairs of runs in order is the area under the ROC curve."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from lnexp.results.statistics.in_order import share_in_order


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=20))
def test_it_is_that_of_scikit_learn_ties_included(runs):
    failed, said = (pd.Series(column) for column in zip(*runs, strict=True))
    if failed.nunique() == 1:
        assert share_in_order(failed, said) is None
    else:
        assert share_in_order(failed, said) == pytest.approx(roc_auc_score(failed, said))
