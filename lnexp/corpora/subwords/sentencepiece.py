"""Segment with SentencePiece's byte-pair encoding (Kudo and Richardson 2018)."""

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from lnexp.corpora.subwords.learned import LearnedSubwords
from lnexp.errors import UserError
from lnexp.printable import one_line


@dataclass(frozen=True, kw_only=True)
class SentencePiece(LearnedSubwords):
    """SentencePiece; ``size`` is the size of the vocabulary, joint over both languages.

    Attributes:
        model: path of a trained model; None: train one on train.
    """

    model: str | None = None

    FILE = "sentencepiece.model"
    WHAT = "SentencePiece model"

    @property
    def given(self) -> str | None:
        return self.model

    def train(self, words: list[tuple[str, int]], folder: Path) -> None:
        """Train a model on word counts, which gives the same vocabulary as training on sentences."""
        model = io.BytesIO()
        with TemporaryDirectory() as aside:  # SentencePiece takes a path with a comma, as folder may have, for several
            table = Path(aside) / "words.tsv"
            table.write_text("".join(f"{word}\t{count}\n" for word, count in words), encoding="utf-8", newline="\n")
            try:
                sentencepiece.SentencePieceTrainer.train(
                    input=str(table), input_format="tsv", model_writer=model,
                    model_type="bpe", vocab_size=self.size, character_coverage=1.0, bos_id=-1, eos_id=-1,
                    normalization_rule_name="identity", max_sentence_length=1 << 16, minloglevel=2,
                )  # fmt: skip
            except RuntimeError as error:
                raise UserError(_describe(str(error), self.size)) from None
        (folder / self.FILE).write_bytes(_without_paths(model.getvalue()))

    def check(self, path: Path) -> bool:
        try:
            _load(path)
        except RuntimeError:
            return False
        return True

    def segment(self, words: list[str], folder: Path) -> list[str]:
        """Segment words, as ``unterirdisch`` into ``▁unter ir disch``."""
        pieces = _load(folder / self.FILE).encode(words, out_type=str)
        return [" ".join(found) or word for word, found in zip(words, pieces, strict=True)]


def _describe(error: str, size: int) -> str:
    limit = re.search(r"value <= (\d+)", error)
    if limit:
        return f"data.subword.size={size}: too large for this corpus; at most {limit[1]}"
    return f"data.subword.size={size}: sentencepiece cannot learn from this corpus ({one_line(error)})"


def _without_paths(model: bytes) -> bytes:
    """Return a model without the path of its training file, so that equal texts give equal bytes."""
    content = sentencepiece_model_pb2.ModelProto.FromString(model)
    content.trainer_spec.ClearField("input")
    return content.SerializeToString(deterministic=True)


@lru_cache(maxsize=1)
def _load(model: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(model))
