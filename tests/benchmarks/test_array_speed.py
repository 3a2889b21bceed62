"""The benchmark of arrays measures at the smallest size, and writes its page."""

import json
import re

import pytest
from helpers import TINY

from lnexp.benchmarks.array_speed import ArraySpeed, write
from lnexp.benchmarks.own_process import run_in_own_process
from lnexp.benchmarks.page import table

FOUND = [
    ArraySpeed([10.0, 12.0, 11.0], [5.0, 12.0, 10.0], 1, "a processor", 1.5, 0.01, 467.7),
    ArraySpeed([20.0, 40.0, 30.0], [10.0, 10.0, 10.0], 4, "a processor", 2.5, 0.01, 467.7),
]


def test_ratios_are_of_neighbouring_rounds():
    assert [one.ratio for one in FOUND] == [1.1, 3.0]


def test_table_and_plot_name_the_machine(tmp_path):
    write(FOUND, "profile small, toy", tmp_path / "bench")
    page = (tmp_path / "bench" / "arrays.md").read_text()
    assert "| 4 | 30.00 | 10.00 | 3.00 | 3.3 | 2.50 |" in re.sub(" +", " ", page)
    assert table(FOUND) in page
    assert "a processor; medians of 3 rounds" in page
    assert [ArraySpeed(**one) for one in json.loads((tmp_path / "bench" / "arrays.json").read_text())] == FOUND
    assert (tmp_path / "bench" / "arrays.png").stat().st_size > 10_000


def test_a_page_of_sizes_of_several_days_names_the_fewest_and_the_most_rounds(tmp_path):
    other = ArraySpeed([50.0] * 5, [10.0] * 5, 8, "a processor", 4.5, 0.01, 467.7)
    write([*FOUND, other], "profile small, toy", tmp_path)
    assert "medians of 3 to 5 rounds" in (tmp_path / "arrays.md").read_text()


@pytest.mark.slow
def test_one_size_is_measured_in_a_process_of_its_own(prepared, warm_interpreter):
    options = [*(option for option in TINY if option != "tracker=none"), f"data_dir={prepared}", "max_tokens=100"]
    measured = ArraySpeed(**run_in_own_process("lnexp.benchmarks.array_speed", "2", *options))
    assert measured.members == 2
    assert len(measured.ours) == len(measured.stock) > 1
    assert min(*measured.ours, *measured.stock, measured.memory, measured.products, measured.tokens) > 0
