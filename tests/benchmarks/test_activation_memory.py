"""What is made of measurements of memory; that they can be taken at all, at the smallest size."""

import json
import re

import pytest
from helpers import TINY

from lnexp.benchmarks.activation_memory import Measured, table, write
from lnexp.benchmarks.own_process import ask

FOUND = [Measured(6, 0.5, 0.25, "a processor"), Measured(100, 8.0, 1.6, "a processor")]


def test_table_and_plot_name_the_machine(tmp_path):
    write(FOUND, "profile small, toy", tmp_path / "bench")
    page = (tmp_path / "bench" / "activations.md").read_text()
    assert "| 100 | 8.00 | 1.60 | 5.0 |" in re.sub(" +", " ", page)
    assert table(FOUND) in page
    assert "a processor" in page
    assert [Measured(**one) for one in json.loads((tmp_path / "bench" / "activations.json").read_text())] == FOUND
    assert (tmp_path / "bench" / "activations.png").stat().st_size > 10_000


@pytest.mark.slow
def test_computing_activations_again_takes_less_memory(prepared):
    options = [option for option in TINY if not option.startswith(("tracker=", "max_tokens="))]
    kept, again = (
        ask("lnexp.benchmarks.activation_memory", "24", checkpoint, *options, f"data_dir={prepared}")
        for checkpoint in ("false", "true")
    )
    assert 0 < again["memory"] < kept["memory"]
