"""Segment with subword-nmt's byte-pair encoding (Sennrich et al. 2016), as earlier work on IWSLT14 does."""

import io
import sys
from contextlib import nullcontext, redirect_stderr, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from lnexp.corpora.subwords.learned import LearnedSubwords
from lnexp.errors import UserError

#: Words in subword-nmt's own cache before it is emptied.
CACHE_SIZE = 100_000


@dataclass(frozen=True, kw_only=True)
class SubwordNmt(LearnedSubwords):
    """subword-nmt; ``size`` is the number of merges.

    Attributes:
        codes: path of a file of learned merges; None: learn them from train.
    """

    codes: str | None = None

    FILE = "bpe.codes"
    WHAT = "file of merges"

    @property
    def given(self) -> str | None:
        return self.codes

    def train(self, words: list[tuple[str, int]], folder: Path) -> None:
        """Learn merges from word counts."""
        counts = [f"{word} {count}\n" for word, count in words]
        quiet = nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO())  # hides its progress bar
        # of a corpus with nothing to merge it writes no merge; of some it also raises
        with quiet, suppress(ValueError), (folder / self.FILE).open("w", encoding="utf-8") as file:
            learn_bpe(counts, file, num_symbols=self.size, is_dict=True)
        if not self.check(folder / self.FILE):
            raise UserError(f"data.subword.size={self.size}: this corpus has nothing to merge")

    def check(self, path: Path) -> bool:
        try:
            with redirect_stderr(io.StringIO()):
                _load(path)
        except (SystemExit, ValueError, IndexError):
            return False
        return True

    def segment(self, words: list[str], folder: Path) -> list[str]:
        """Segment words, as ``unterirdisch`` into ``unter@@ ir@@ disch``."""
        bpe = _load(folder / self.FILE)
        if len(bpe.cache) > CACHE_SIZE:
            bpe.cache.clear()
        return [" ".join(bpe.segment_tokens([word])) for word in words]


@lru_cache(maxsize=1)
def _load(codes: Path) -> BPE:
    with codes.open(encoding="utf-8") as file:
        return BPE(file)
