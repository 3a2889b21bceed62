"""The mean-field count, against products by hand."""

import math

import pytest

from lnexp.theory.mean_field import log_gradient_norms


def test_each_layers_own_attention_to_the_source_makes_its_gradient_larger_than_the_one_before():
    norms = [math.exp(log) for log in log_gradient_norms([0.3, 1.0, 3.0])]
    assert norms == pytest.approx([1, math.sqrt(2), math.sqrt(2) * 2])


def test_without_attention_to_the_source_there_is_no_growth():
    assert log_gradient_norms([0.0] * 4) == [0] * 4
    assert log_gradient_norms([0.7]) == [0]
