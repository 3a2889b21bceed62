"""What the page shows is made plain."""

import math

from lnexp.report.robust import plainly


def test_numbers_that_json_has_not_are_missing():
    assert plainly({"y": [math.nan, math.inf, 1.5]}) == {"y": [None, None, 1.5]}
