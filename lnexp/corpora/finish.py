"""Tokenise and lower-case sentences, as a corpus of one language or its labelled pairs have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lnexp.checks import check_choice, check_flag
from lnexp.corpora.moses import lowercase, moses_tokenizer


@dataclass(frozen=True)
class Finish:
    """Writes sentences as the corpus has them.

    Attributes:
        option: the part of the config that asks for it, as ``data.text``; messages name it.
        language: their code.
        tokenizer: ``moses``, or ``none`` for sentences that are tokenised.
        lowercase: whether to lower-case, as Moses does.

    Raises:
        UserError: for another tokenizer, or a flag that is none.
    """

    option: str
    language: str
    tokenizer: Literal["moses", "none"]
    lowercase: bool

    def __post_init__(self) -> None:
        check_choice(f"{self.option}.tokenizer", self.tokenizer, ("moses", "none"))
        check_flag(f"{self.option}.lowercase", self.lowercase)

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Return sentences finished."""
        tokenised = moses_tokenizer(self.language).tokenize(list(lines)) if self.tokenizer == "moses" else lines
        return [lowercase(line).strip() if self.lowercase else line.strip() for line in tokenised]

    def texts(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return several lists of sentences finished, as documents."""
        return [self.lines(text) for text in texts]
