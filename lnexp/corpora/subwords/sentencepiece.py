"""Byte-pair encoding with SentencePiece (Kudo and Richardson 2018)."""

import io
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from lnexp.corpora.subwords import check_whole, most_frequent
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

    def __post_init__(self) -> None:
        check_whole("size", self.size)
        check_whole("most_frequent", self.most_frequent)

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Train a model on the counts, which gives the vocabulary that the sentences would; or take the given one."""
        if self.model:
            _check(Path(self.model))
            shutil.copyfile(self.model, folder / MODEL)
            return
        table = folder / "words.tsv"
        with table.open("w", encoding="utf-8", newline="\n") as file:
            for word, count in most_frequent(words, self.most_frequent):
                file.write(f"{word}\t{count}\n")
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table), input_format="tsv", model_writer=model,
                model_type="bpe", vocab_size=self.size, character_coverage=1.0, bos_id=-1, eos_id=-1,
                normalization_rule_name="identity", max_sentence_length=1 << 16, minloglevel=2,
            )  # fmt: skip
        except RuntimeError as error:
            raise UserError(_in_words(str(error), self.size)) from None
        table.unlink()
        (folder / MODEL).write_bytes(_without_paths(model.getvalue()))

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
    try:
        _load(model)
    except RuntimeError:
        raise UserError(f"{model}: not a SentencePiece model") from None


def _without_paths(model: bytes) -> bytes:
    """A model that does not say where it was trained, so that the same text always gives the same bytes."""
    content = sentencepiece_model_pb2.ModelProto.FromString(model)
    content.trainer_spec.ClearField("input")
    return content.SerializeToString(deterministic=True)


@lru_cache(maxsize=1)
def _load(model: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(model))
