"""The benchmark of translating measures at the smallest size, and writes its page."""

import json
import re

import pytest
from helpers import TINY

from lnexp.benchmarks.decoding_speed import DecodingSpeed, measure_all, write
from lnexp.benchmarks.page import table

FOUND = [
    DecodingSpeed([100.0, 90.0, 110.0], [100.0, 100.0, 100.0], 1, "a processor", 61.5, 61.5, 200, 5),
    DecodingSpeed([300.0, 400.0, 500.0], [100.0, 100.0, 100.0], 4, "a processor", 61.5, 61.5, 200, 5),
]


def test_table_and_plot(tmp_path):
    write(FOUND, "profile small, toy", tmp_path / "bench")
    page = (tmp_path / "bench" / "decoding.md").read_text()
    assert "| 4 | 200 | 5 | 400.0 | 100.0 | 4.00 | 61.50 | 61.50 |" in re.sub(" +", " ", page)
    assert table(FOUND) in page
    assert "a processor" in page
    assert [DecodingSpeed(**one) for one in json.loads((tmp_path / "bench" / "decoding.json").read_text())] == FOUND
    assert (tmp_path / "bench" / "decoding.png").stat().st_size > 10_000


@pytest.mark.slow
def test_both_sides_translate_alike(prepared, warm_interpreter):
    options = [option for option in TINY if option not in ("tracker=none", "warmup_updates=1")]
    found = measure_all([*options, f"data_dir={prepared}", "lr_max=1e-2"], sizes=(1, 2))
    assert [one.members for one in found] == [1, 2]
    for one in found:
        assert one.sentences == 20
        assert one.bleu == one.stock_bleu
        assert min(*one.ours, *one.stock) > 0
