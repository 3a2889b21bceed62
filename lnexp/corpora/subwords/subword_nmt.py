"""Byte-pair encoding with subword-nmt (Sennrich et al. 2016), as earlier work on IWSLT14 used it."""

import io
import shutil
import sys
from collections import Counter
from contextlib import nullcontext, redirect_stderr
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from lnexp.corpora.subwords import check_whole, most_frequent
from lnexp.errors import UserError

CODES = "bpe.codes"
#: subword-nmt remembers every word it has cut; so many words are enough.
MEMORY = 100_000


@dataclass(frozen=True)
class SubwordNmt:
    """See ``Subwords``.

    Attributes:
        size: merges to learn.
        codes: a file of merges that somebody has learned; None: learn them from train.
        most_frequent: learn from so many word types at most, which bounds the memory on a large corpus.
        sha256: of that file; tells settings apart, nothing more.
    """

    size: int
    codes: str | None = None
    most_frequent: int = 1_000_000
    sha256: str | None = None

    def __post_init__(self) -> None:
        check_whole("size", self.size)
        check_whole("most_frequent", self.most_frequent)

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Learn merges from both languages together, or take the given ones."""
        if self.codes:
            _check(Path(self.codes))
            shutil.copyfile(self.codes, folder / CODES)
            return
        counts = [f"{word} {count}\n" for word, count in most_frequent(words, self.most_frequent)]
        quiet = nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO())  # its progress bar
        with quiet, (folder / CODES).open("w", encoding="utf-8") as file:
            try:
                learn_bpe(counts, file, num_symbols=self.size, is_dict=True)
            except ValueError:
                raise UserError(f"data.subword.size={self.size}: there is nothing to merge in this corpus") from None

    def cut(self, words: list[str], folder: Path) -> list[str]:
        """``unter@@ ir@@ disch`` of ``unterirdisch``."""
        bpe = _load(folder / CODES)
        if len(bpe.cache) > MEMORY:
            bpe.cache.clear()
        return [" ".join(bpe.segment_tokens([word])) for word in words]


def _check(codes: Path) -> None:
    if not codes.is_file():
        raise UserError(f"{codes}: no such file of merges")
    try:
        with redirect_stderr(io.StringIO()):
            _load(codes)
    except (SystemExit, ValueError, IndexError):
        raise UserError(f"{codes}: not a file of merges") from None


@lru_cache(maxsize=1)
def _load(codes: Path) -> BPE:
    with codes.open(encoding="utf-8") as file:
        return BPE(file)
