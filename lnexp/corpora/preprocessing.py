"""Preprocess parallel text in chunks of lines: decode, check, tokenise, filter, lower-case."""

import codecs
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Literal, NamedTuple

from lnexp.corpora.archives import TextLocation
from lnexp.corpora.cleaning import PairFilter, decode, flaw
from lnexp.corpora.language_pair import FilePair
from lnexp.corpora.moses import lowercase, moses_tokenizer
from lnexp.errors import UserError

#: Sentence pairs that a worker process is given at a time.
CHUNK = 4_000

#: What ``decode`` removes.
REMOVED = {"carriage return at the end of a line": b"\r\n", "byte order mark": b"\n" + codecs.BOM_UTF8}

Pair = tuple[str, str]


class Chunk(NamedTuple):
    """Consecutive lines of two files, as they were read.

    Attributes:
        files: source and target.
        number: of the first line, from 1.
        lines: of source and target.
    """

    files: FilePair
    number: int
    lines: list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Preprocessing:
    """The steps of preprocessing for one split.

    Attributes:
        languages: source and target.
        tokenizer: ``moses``, or ``none`` for tokenised text.
        lowercase: whether to lower-case, as Moses does.
        bad_lines: what to do with a line that is not a valid sentence (``cleaning.flaw``): ``refuse`` the corpus,
            ``drop`` the pair, or ``keep`` it. Bytes that are not UTF-8 are always refused or dropped.
        pair_filter: selects tokenised pairs; None: all are kept.
    """

    languages: tuple[str, str]
    tokenizer: Literal["moses", "none"]
    lowercase: bool
    bad_lines: Literal["refuse", "drop", "keep"]
    pair_filter: PairFilter | None

    def for_held_out(self) -> "Preprocessing":
        """Return the steps for valid and test, which leave out no sentence."""
        return replace(self, bad_lines="refuse" if self.bad_lines == "refuse" else "keep", pair_filter=None)


class PreprocessedChunk(NamedTuple):
    """The result of preprocessing a chunk.

    Attributes:
        pairs: the tokenised pairs that are kept.
        dropped: numbers of pairs left out, by reason.
        repaired: numbers of lines that ``decode`` changed, by file and change.
    """

    pairs: list[Pair]
    dropped: Counter[str]
    repaired: Counter[str]


def chunks_of(files: FilePair) -> Iterator[Chunk]:
    """Yield the lines of two files in chunks."""
    source, target = files
    lines = zip_longest(source.lines(), target.lines(), fillvalue=b"")
    number = 1
    while chunk := list(islice(lines, CHUNK)):
        yield Chunk(files, number, chunk)
        number += len(chunk)


def preprocess(steps: Preprocessing, chunk: Chunk) -> PreprocessedChunk:
    """Decode, check, tokenise, filter and lower-case a chunk.

    Raises:
        UserError: for a line that is refused, with its file and number.
    """
    pairs, dropped = _decode(chunk, steps.bad_lines)
    if steps.tokenizer == "moses" and pairs:
        sides = zip(steps.languages, zip(*pairs, strict=True), strict=True)
        pairs = list(zip(*(moses_tokenizer(language).tokenize(list(side)) for language, side in sides), strict=True))
    kept: list[Pair] = []
    for pair in pairs:
        if steps.pair_filter and (reason := steps.pair_filter.reason(*pair)):
            dropped[reason] += 1
        else:
            kept.append(_finish(pair, steps))
    return PreprocessedChunk(kept, dropped, _count_repairs(chunk))


def _finish(pair: Pair, steps: Preprocessing) -> Pair:
    source, target = pair
    if steps.pair_filter:  # clean-corpus-n.perl removes the blank that tokenizer.perl leaves after ".'"
        source, target = source.strip(), target.strip()
    return (lowercase(source), lowercase(target)) if steps.lowercase else (source, target)


def _decode(chunk: Chunk, bad_lines: str) -> tuple[list[Pair], Counter[str]]:
    """Return the valid pairs, and the numbers of the others by reason."""
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
        location, problem = _first_problem(chunk, raw)
        if bad_lines != "drop":
            raise UserError(f"{location}:{number}: {problem}")
        dropped[problem] += 1
    return pairs, dropped


def _first_problem(chunk: Chunk, raw: tuple[bytes, bytes]) -> tuple[TextLocation, str]:
    """Return the location and the reason of the first invalid line of a pair that has one."""
    for file, line in zip(chunk.files, raw, strict=True):
        try:
            if problem := flaw(decode(line)):
                return file.location, problem
        except UnicodeDecodeError:
            return file.location, "not UTF-8"
    raise AssertionError("called for a pair without a problem")


def _count_repairs(chunk: Chunk) -> Counter[str]:
    """Return how often ``decode`` removes what Windows programs add, by file and kind, for the report."""
    repaired: Counter[str] = Counter()
    for file, lines in zip(chunk.files, zip(*chunk.lines, strict=True), strict=True):
        text = b"\n" + b"\n".join(lines) + b"\n"
        for what, mark in REMOVED.items():
            if mark in text:
                repaired[f"{file.location}: {what} removed"] += text.count(mark)
    return repaired
