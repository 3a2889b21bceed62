"""What is done to the lines of parallel text, a chunk at a time: decode, check, tokenise, filter, lower-case."""

import codecs
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Literal, NamedTuple

from lnexp.corpora.archives import Place
from lnexp.corpora.cleaning import PairFilter, decode, flaw
from lnexp.corpora.language_pair import Sides
from lnexp.corpora.moses import lowercase, moses_tokenizer
from lnexp.errors import UserError

#: Sentence pairs that a process takes at a time.
CHUNK = 4_000

#: What ``decode`` takes away.
MENDED = {"carriage return at the end of a line": b"\r\n", "byte order mark": b"\n" + codecs.BOM_UTF8}

Pair = tuple[str, str]


class Chunk(NamedTuple):
    """Neighbouring lines of both sides as they were read; ``number`` is the first one's."""

    sides: Sides
    number: int
    lines: list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Treatment:
    """What is done to the lines of a split.

    Attributes:
        languages: source and target.
        tokenizer: ``moses``, or ``none`` for text that somebody has tokenised.
        lowercase: as Moses does it.
        bad_lines: what a line means that can be no sentence (``cleaning.flaw``): ``refuse`` the corpus, ``drop`` the
            pair, or ``keep`` it. Bytes that are not UTF-8 cannot be kept.
        pair_filter: which tokenised pairs stay; None: all.
    """

    languages: tuple[str, str]
    tokenizer: Literal["moses", "none"]
    lowercase: bool
    bad_lines: Literal["refuse", "drop", "keep"]
    pair_filter: PairFilter | None

    def for_held_out(self) -> "Treatment":
        """For valid and test, of which no sentence is ever left out."""
        return replace(self, bad_lines="refuse" if self.bad_lines == "refuse" else "keep", pair_filter=None)


class Treated(NamedTuple):
    """The pairs of a chunk that stay, why others do not, and what was mended in how many lines."""

    pairs: list[Pair]
    dropped: Counter[str]
    mended: Counter[str]


class Work(NamedTuple):
    """What a process is given."""

    treatment: Treatment
    chunk: Chunk


def chunks_of(sides: Sides) -> Iterator[Chunk]:
    source, target = sides
    lines = zip_longest(source.lines(), target.lines(), fillvalue=b"")
    number = 1
    while chunk := list(islice(lines, CHUNK)):
        yield Chunk(sides, number, chunk)
        number += len(chunk)


def treat(work: Work) -> Treated:
    """Decode, check, tokenise, filter and lower-case a chunk.

    Raises:
        UserError: for a line that is refused, with its file and number.
    """
    treatment, chunk = work
    pairs, dropped = _decoded(chunk, treatment.bad_lines)
    if treatment.tokenizer == "moses" and pairs:
        sides = zip(treatment.languages, zip(*pairs, strict=True), strict=True)
        pairs = list(zip(*(moses_tokenizer(language).tokenize(list(side)) for language, side in sides), strict=True))
    kept: list[Pair] = []
    for pair in pairs:
        if treatment.pair_filter and (reason := treatment.pair_filter.reason(*pair)):
            dropped[reason] += 1
        else:
            kept.append(_finished(pair, treatment))
    return Treated(kept, dropped, _mended(chunk))


def _finished(pair: Pair, treatment: Treatment) -> Pair:
    source, target = pair
    if treatment.pair_filter:  # clean-corpus-n.perl takes away the blank that tokenizer.perl leaves after ".'"
        source, target = source.strip(), target.strip()
    return (lowercase(source), lowercase(target)) if treatment.lowercase else (source, target)


def _decoded(chunk: Chunk, bad_lines: str) -> tuple[list[Pair], Counter[str]]:
    """The pairs without a flaw, and the flaws of the others."""
    pairs: list[Pair] = []
    dropped: Counter[str] = Counter()
    for number, raw in enumerate(chunk.lines, start=chunk.number):
        try:
            source, target = decode(raw[0]), decode(raw[1])
            if bad_lines == "keep" or not (flaw(source) or flaw(target)):
                pairs.append((source, target))
                continue
        except UnicodeDecodeError:
            pass
        where, problem = _first_problem(chunk, raw)
        if bad_lines != "drop":
            raise UserError(f"{where}:{number}: {problem}")
        dropped[problem] += 1
    return pairs, dropped


def _first_problem(chunk: Chunk, raw: tuple[bytes, bytes]) -> tuple[Place, str]:
    for side, line in zip(chunk.sides, raw, strict=True):
        try:
            if problem := flaw(decode(line)):
                return side.place, problem
        except UnicodeDecodeError:
            return side.place, "not UTF-8"
    raise AssertionError("only called for a pair with a problem")


def _mended(chunk: Chunk) -> Counter[str]:
    """What Windows put into the files and ``decode`` takes away; lossless, but to be told."""
    mended: Counter[str] = Counter()
    for side, lines in zip(chunk.sides, zip(*chunk.lines, strict=True), strict=True):
        text = b"\n" + b"\n".join(lines) + b"\n"
        for what, mark in MENDED.items():
            if mark in text:
                mended[f"{side.place}: {what} taken away"] += text.count(mark)
    return mended
