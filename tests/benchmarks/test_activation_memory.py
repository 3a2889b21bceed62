"""The memory benchmark measures at the smallest size, and writes its page."""

import json
import re

import pytest
from helpers import TINY

from lnexp.benchmarks.activation_memory import FREE_AT_ONCE, DepthMemory, table, write
from lnexp.benchmarks.own_process import run_in_own_process

FOUND = [DepthMemory(6, 0.5, 0.25, "a processor"), DepthMemory(100, 8.0, 1.6, "a processor")]


def test_table_and_plot_name_the_machine(tmp_path):
    write(FOUND, "profile small, toy", tmp_path / "bench")
    page = (tmp_path / "bench" / "activations.md").read_text()
    assert "| 100 | 8.00 | 1.60 | 5.0 |" in re.sub(" +", " ", page)
    assert table(FOUND) in page
    assert "a processor" in page
    assert [DepthMemory(**one) for one in json.loads((tmp_path / "bench" / "activations.json").read_text())] == FOUND
    assert (tmp_path / "bench" / "activations.png").stat().st_size > 10_000


@pytest.mark.slow
def test_computing_activations_again_takes_less_memory(prepared, warm_interpreter):
    options = [option for option in TINY if not option.startswith(("tracker=", "max_tokens="))]
    arguments = (*options, f"data_dir={prepared}")
    kept, again = (
        run_in_own_process("lnexp.benchmarks.activation_memory", "12", checkpoint, *arguments, env=FREE_AT_ONCE)
        for checkpoint in ("false", "true")
    )
    assert 0 < again["memory"] < 0.75 * kept["memory"]
