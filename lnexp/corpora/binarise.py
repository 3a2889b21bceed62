"""Segment tokenised text into subwords and write fairseq's binarised data, in parallel."""

from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lnexp.corpora.context import PreparationContext, Progress
from lnexp.corpora.fairseq_data import IndexedDatasetWriter, number_type, read_vocabulary, write_vocabulary
from lnexp.corpora.segmentation import SegmentedLines, segmenter
from lnexp.corpora.subwords import Subwords
from lnexp.corpora.text import SPLITS, chunks, count_lines, stream_lines

#: Lines, and words, that a worker process is given at a time.
LINES, WORDS = 10_000, 50_000

Counts = Counter[str]


class TokenisedCorpus(NamedTuple):
    """A corpus whose text is written, to be segmented and binarised.

    Attributes:
        folder: of the corpus: has ``text/``, and gets ``subwords/``, ``bin/`` and the learned subwords.
        languages: source and target, or the one that the corpus has.
        subwords: the method of segmentation.
    """

    folder: Path
    languages: tuple[str, ...]
    subwords: Subwords

    def text(self, split: str, language: str) -> Path:
        """Return the file of tokenised sentences, before subwords."""
        return self.folder / "text" / f"{split}.{language}"

    def dictionary(self, language: str) -> Path:
        """Return the file of fairseq's dictionary."""
        return self.folder / "bin" / f"dict.{language}.txt"


def binarise(
    corpus: TokenisedCorpus, joined_dictionary: bool, context: PreparationContext
) -> dict[str, dict[str, dict[str, int]]]:
    """Learn subwords on train, segment all splits, and write dictionaries and binarised data.

    Returns:
        For the manifest, by split and language: the numbers of ``words``, ``subwords`` and ``unknown`` subwords.
    """
    words = {language: _count_words(corpus, language, context) for language in corpus.languages}
    corpus.subwords.learn(sum(words.values(), Counts()), corpus.folder)
    (corpus.folder / "subwords").mkdir()
    (corpus.folder / "bin").mkdir()
    _write_vocabularies(corpus, words, joined_dictionary, context)
    return {
        split: {language: _write(corpus, split, language, context) for language in corpus.languages} for split in SPLITS
    }


def _count_words(corpus: TokenisedCorpus, language: str, context: PreparationContext) -> Counts:
    counts = Counts()
    path = corpus.text("train", language)
    with Progress(f"count words of {path.name}", count_lines(path), "lines") as progress:
        for n_lines, counted in context.map(_counts_of, chunks(stream_lines(path), LINES)):
            counts.update(counted)
            progress.advance(n_lines)
    return counts


def _counts_of(lines: list[str]) -> tuple[int, Counts]:
    return len(lines), Counter(chain.from_iterable(map(str.split, lines)))


def _write_vocabularies(
    corpus: TokenisedCorpus, words: dict[str, Counts], joined: bool, context: PreparationContext
) -> None:
    counts = {language: _count_subwords(corpus, words[language], context) for language in corpus.languages}
    if joined:
        both = sum(counts.values(), Counts())
        counts = dict.fromkeys(corpus.languages, both)
    for language in corpus.languages:
        write_vocabulary(counts[language], corpus.dictionary(language))


def _count_subwords(corpus: TokenisedCorpus, words: Counts, context: PreparationContext) -> Counts:
    counts = Counts()
    for part, segmented in context.map(partial(_segment_words, corpus), chunks(words, WORDS)):
        for word, subwords in zip(part, segmented, strict=True):
            for subword in subwords.split():
                counts[subword] += words[word]
    return counts


def _segment_words(corpus: TokenisedCorpus, words: list[str]) -> tuple[list[str], list[str]]:
    return words, corpus.subwords.segment(words, corpus.folder)


def _write(corpus: TokenisedCorpus, split: str, language: str, context: PreparationContext) -> dict[str, int]:
    source = corpus.text(split, language)
    prefix = corpus.folder / "bin" / f"{split}.{'-'.join(corpus.languages)}.{language}"
    kind = number_type(len(read_vocabulary(corpus.dictionary(language))))
    counts = Counts(words=0, subwords=0, unknown=0)
    with (
        (corpus.folder / "subwords" / source.name).open("w", encoding="utf-8", newline="\n") as text,
        IndexedDatasetWriter(prefix, kind) as dataset,
        Progress(f"binarise {source.name}", count_lines(source), "lines") as progress,
    ):
        segment = partial(_segment_lines, corpus, language)
        for n_lines, segmented in context.map(segment, chunks(stream_lines(source), LINES)):
            text.write(segmented.text)
            dataset.add(segmented.numbers, segmented.sizes)
            counts.update(words=segmented.words, subwords=segmented.subwords, unknown=segmented.unknown)
            progress.advance(n_lines)
    return dict(counts)


def _segment_lines(corpus: TokenisedCorpus, language: str, lines: list[str]) -> tuple[int, SegmentedLines]:
    return len(lines), segmenter(corpus.subwords, corpus.folder, corpus.dictionary(language)).segment(lines)
