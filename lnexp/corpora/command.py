"""The command behind ``scripts/prepare_data.py``."""

import sys

from lnexp.cli import one_line_errors
from lnexp.configuration import check, compose
from lnexp.corpora.prepare import prepare


def main() -> None:
    """Prepare the corpus of a config, and say what it holds."""
    with one_line_errors():
        cfg = compose(sys.argv[1:])
        check(cfg)
        corpus = prepare(cfg.data, cfg.data_dir)
        pairs = ", ".join(f"{count:,} {split}" for split, count in corpus.manifest["pairs"].items())
        print(f"{cfg.data.name}: {pairs} sentence pairs in {corpus.folder}")
