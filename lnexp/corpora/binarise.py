"""From tokenised text to subwords and fairseq's binarised data, a chunk of lines at a time on all cores."""

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lnexp.corpora.context import Progress, Workshop
from lnexp.corpora.cutting import Cut, cutter
from lnexp.corpora.indexed_dataset import IndexedDatasetWriter, number_type
from lnexp.corpora.subwords import Subwords
from lnexp.corpora.text import SPLITS, chunks, count_lines, stream_lines
from lnexp.corpora.vocabulary import read_vocabulary, write_vocabulary

#: Lines, or words, that a process takes at a time.
LINES, WORDS = 10_000, 50_000

Counts = Counter[str]


class Corpus(NamedTuple):
    """What the processes must know.

    Attributes:
        folder: of the corpus; holds ``text/``, gets ``subwords/``, ``bin/`` and what the subwords have learned.
        languages: source and target.
        subwords: the way to cut words.
    """

    folder: Path
    languages: tuple[str, str]
    subwords: Subwords

    def text(self, split: str, language: str) -> Path:
        """Its sentences before subwords."""
        return self.folder / "text" / f"{split}.{language}"

    def dictionary(self, language: str) -> Path:
        """fairseq's dictionary."""
        return self.folder / "bin" / f"dict.{language}.txt"


def binarise(corpus: Corpus, joined_dictionary: bool, workshop: Workshop) -> dict[str, dict[str, dict[str, int]]]:
    """Learn subwords on train, cut everything, number it.

    Returns:
        For the manifest, of each split and language: ``words``, ``subwords`` and ``unknown`` ones among them.
    """
    words = {language: _count_words(corpus, language, workshop) for language in corpus.languages}
    corpus.subwords.learn(sum(words.values(), Counts()), corpus.folder)
    (corpus.folder / "subwords").mkdir()
    (corpus.folder / "bin").mkdir()
    _write_vocabularies(corpus, words, joined_dictionary, workshop)
    return {
        split: {language: _write(corpus, split, language, workshop) for language in corpus.languages}
        for split in SPLITS
    }


def _count_words(corpus: Corpus, language: str, workshop: Workshop) -> Counts:
    counts = Counts()
    path = corpus.text("train", language)
    with Progress(f"count words of {path.name}", count_lines(path), "lines") as progress:
        for n_lines, counted in workshop.map(_counts_of, chunks(stream_lines(path), LINES)):
            counts.update(counted)
            progress.advance(n_lines)
    return counts


def _counts_of(lines: list[str]) -> tuple[int, Counts]:
    return len(lines), Counter(chain.from_iterable(map(str.split, lines)))


def _write_vocabularies(corpus: Corpus, words: dict[str, Counts], joined: bool, workshop: Workshop) -> None:
    counts = {language: _count_subwords(corpus, words[language], workshop) for language in corpus.languages}
    if joined:
        both = sum(counts.values(), Counts())
        counts = dict.fromkeys(corpus.languages, both)
    for language in corpus.languages:
        write_vocabulary(counts[language], corpus.dictionary(language))


def _count_subwords(corpus: Corpus, words: Counts, workshop: Workshop) -> Counts:
    counts = Counts()
    work = ((corpus, part) for part in chunks(words, WORDS))
    for part, cut in workshop.map(_cut_words, work):
        for word, subwords in zip(part, cut, strict=True):
            for subword in subwords.split():
                counts[subword] += words[word]
    return counts


def _cut_words(work: tuple[Corpus, list[str]]) -> tuple[list[str], list[str]]:
    corpus, words = work
    return words, corpus.subwords.cut(words, corpus.folder)


def _write(corpus: Corpus, split: str, language: str, workshop: Workshop) -> dict[str, int]:
    source = corpus.text(split, language)
    prefix = corpus.folder / "bin" / f"{split}.{'-'.join(corpus.languages)}.{language}"
    kind = number_type(len(read_vocabulary(corpus.dictionary(language))))
    counts = Counts(words=0, subwords=0, unknown=0)
    with (
        (corpus.folder / "subwords" / source.name).open("w", encoding="utf-8", newline="\n") as text,
        IndexedDatasetWriter(prefix, kind) as dataset,
        Progress(f"binarise {source.name}", count_lines(source), "lines") as progress,
    ):
        work = ((corpus, language, lines) for lines in chunks(stream_lines(source), LINES))
        for n_lines, cut in workshop.map(_cut, work):
            text.write(cut.text)
            dataset.add(cut.numbers, cut.sizes)
            counts.update(words=cut.words, subwords=cut.subwords, unknown=cut.unknown)
            progress.advance(n_lines)
    return dict(counts)


def _cut(work: tuple[Corpus, str, list[str]]) -> tuple[int, Cut]:
    corpus, language, lines = work
    return len(lines), cutter(corpus.subwords, corpus.folder, corpus.dictionary(language)).cut(lines)
