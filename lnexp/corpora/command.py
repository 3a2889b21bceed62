"""Run ``scripts/prepare_data.py``: prepare a corpus and print what it holds."""

from typing import Any

from lnexp.cli import one_line_errors, overrides_of_the_command_line
from lnexp.configuration import check, compose
from lnexp.corpora.known import train_pairs_in_words
from lnexp.corpora.prepare import prepare


def main() -> None:
    """Prepare the corpus of a config, and print what it holds."""
    overrides = overrides_of_the_command_line(
        "Prepare a corpus: download, tokenise, filter, segment, binarise. Training does this by itself.",
        "python scripts/prepare_data.py data=multi30k subword=subword_nmt data.subword.size=8000",
    )
    with one_line_errors():
        cfg = compose(overrides)
        check(cfg)
        corpus = prepare(cfg.data, cfg.data_dir)
        for line in report(corpus.manifest):
            print(line)
        print(f"{cfg.data.name} is in {corpus.folder}")


def report(manifest: dict[str, Any]) -> list[str]:
    """Return lines for a terminal: repaired lines, pairs left out and why, pairs of each split."""
    lines = [f"{what} ({count:,} lines)" for what, count in manifest.get("mended", {}).items()]
    for split, steps in manifest.get("steps", {}).items():
        if steps["left_out"]:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in steps["left_out"].items())
            lines.append(f"{split}: {steps['read']:,} pairs read; left out: {reasons}")
    train = train_pairs_in_words(manifest["pairs"]["train"], manifest.get("part_of"))
    held_out = " and ".join(f"{manifest['pairs'][split]:,} {split}" for split in ("valid", "test"))
    return [*lines, f"{train}, {held_out}"]
