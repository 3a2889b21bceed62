"""The lines of docs/corpora.md that divide a corpus of two files make one that can be prepared."""

import json
import re

import pytest
from helpers import ROOT, run_script

PAIRS = [(f"ein Satz {number}", f"a sentence {number}") for number in range(60)]


def divided(folder, held_out):
    text = (ROOT / "docs/corpora.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"## A corpus of two files.*?```python\n(.*?)```", text, re.DOTALL)
    exec(lines.replace("FOLDER", str(folder)).replace("1000", str(held_out)), {})


@pytest.mark.parametrize("end", ["\n", ""])
def test_the_last_pair_counts_whether_or_not_its_line_ends(tmp_path, end):
    for number, language in enumerate(("de", "en")):
        (tmp_path / f"all.{language}").write_text("\n".join(pair[number] for pair in PAIRS) + end)
    divided(tmp_path, held_out=10)
    lines = [len((tmp_path / f"{split}.de").read_text().splitlines()) for split in ("train", "valid", "test")]
    assert lines == [40, 10, 10]


def test_every_pair_is_in_one_split_and_no_pair_in_two(tmp_path):
    twice = [*PAIRS, PAIRS[0]]
    for number, language in enumerate(("de", "en")):
        (tmp_path / f"all.{language}").write_text("".join(f"{pair[number]}\n" for pair in twice))
    divided(tmp_path, held_out=10)
    found = {
        split: list(
            zip(
                *((tmp_path / f"{split}.{language}").read_text().splitlines() for language in ("de", "en")), strict=True
            )
        )
        for split in ("train", "valid", "test")
    }
    assert {split: len(pairs) for split, pairs in found.items()} == {"train": 40, "valid": 10, "test": 10}
    assert sorted(pair for pairs in found.values() for pair in pairs) == sorted(PAIRS)
    done = run_script(
        "prepare_data", "data=plain", f"data.path={tmp_path}", "data.name=mine", "data.subword.size=60",
        f"data_dir={tmp_path / 'data'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (manifest,) = (tmp_path / "data").glob("mine-*/manifest.json")
    assert json.loads(manifest.read_text())["pairs"] == {"train": 40, "valid": 10, "test": 10}
