"""Byte-pair encoding with SentencePiece (Kudo and Richardson 2018)."""

import re
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import sentencepiece

from lnexp.errors import UserError

MODEL = "sentencepiece.model"


@dataclass(frozen=True)
class SentencePiece:
    """See ``Subwords``.

    Attributes:
        size: of the vocabulary, joint over both languages.
        model: a model that somebody has trained; None: train it on train.
        most_frequent: learn from so many word types at most, which bounds the memory on a large corpus.
        sha256: of the given model; tells settings apart, nothing more.
    """

    size: int
    model: str | None = None
    most_frequent: int = 1_000_000
    sha256: str | None = None

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Train a model on the counts, which gives the vocabulary that the sentences would; or take the given one."""
        if self.model:
            _check(Path(self.model))
            shutil.copyfile(self.model, folder / MODEL)
            return
        table = folder / "words.tsv"
        with table.open("w", encoding="utf-8", newline="\n") as file:
            # ties in the order of the alphabet, so that the same text always gives the same model
            for word, count in sorted(words.items(), key=lambda item: (-item[1], item[0]))[: self.most_frequent]:
                file.write(f"{word}\t{count}\n")
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table), input_format="tsv", model_prefix=str(folder / Path(MODEL).stem),
                model_type="bpe", vocab_size=self.size, character_coverage=1.0, bos_id=-1, eos_id=-1,
                normalization_rule_name="identity", max_sentence_length=1 << 16, minloglevel=2,
            )  # fmt: skip
        except RuntimeError as error:
            raise UserError(_in_words(str(error), self.size)) from None
        table.unlink()
        (folder / MODEL).with_suffix(".vocab").unlink()

    def cut(self, words: list[str], folder: Path) -> list[str]:
        """``▁unter ir disch`` of ``unterirdisch``."""
        pieces = _load(folder / MODEL).encode(words, out_type=str)
        return [" ".join(found) or word for word, found in zip(words, pieces, strict=True)]


def _in_words(error: str, size: int) -> str:
    limit = re.search(r"value <= (\d+)", error)
    if limit:
        return f"data.subword.size={size}: more than this corpus gives; at most {limit[1]}"
    return f"data.subword.size={size}: sentencepiece cannot learn it here ({' '.join(error.split())})"


def _check(model: Path) -> None:
    if not model.is_file():
        raise UserError(f"{model}: no such SentencePiece model")


@lru_cache(maxsize=1)
def _load(model: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(model))
