"""Byte-pair encoding with subword-nmt (Sennrich et al. 2016), as earlier work on IWSLT14 used it."""

import io
import sys
from contextlib import nullcontext, redirect_stderr
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from lnexp.corpora.subwords.learned import Learned
from lnexp.errors import UserError

#: subword-nmt remembers every word it has cut; so many words are enough.
MEMORY = 100_000


@dataclass(frozen=True, kw_only=True)
class SubwordNmt(Learned):
    """``size`` is the number of merges.

    Attributes:
        codes: a file of merges that somebody has learned; None: learn them from train.
    """

    codes: str | None = None

    FILE = "bpe.codes"
    WHAT = "file of merges"

    @property
    def given(self) -> str | None:
        return self.codes

    def train(self, words: list[tuple[str, int]], folder: Path) -> None:
        """Learn merges."""
        counts = [f"{word} {count}\n" for word, count in words]
        quiet = nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO())  # its progress bar
        with quiet, (folder / self.FILE).open("w", encoding="utf-8") as file:
            try:
                learn_bpe(counts, file, num_symbols=self.size, is_dict=True)
            except ValueError:
                raise UserError(f"data.subword.size={self.size}: there is nothing to merge in this corpus") from None

    def check(self, path: Path) -> bool:
        try:
            with redirect_stderr(io.StringIO()):
                _load(path)
        except (SystemExit, ValueError, IndexError):
            return False
        return True

    def cut(self, words: list[str], folder: Path) -> list[str]:
        """``unter@@ ir@@ disch`` of ``unterirdisch``."""
        bpe = _load(folder / self.FILE)
        if len(bpe.cache) > MEMORY:
            bpe.cache.clear()
        return [" ".join(bpe.segment_tokens([word])) for word in words]


@lru_cache(maxsize=1)
def _load(codes: Path) -> BPE:
    with codes.open(encoding="utf-8") as file:
        return BPE(file)
