"""Labelled pairs of sentences, one source a file: what they share, and how they are prepared beside a corpus.

A source is a function ``write`` that writes ``{train,valid,test}.tsv``: label, sentence and sentence, tokenised. The
pairs of a corpus are a folder ``<data_dir>/<name>-<hash8>/`` as every prepared corpus, with its dictionary and cut into
its subwords:

- ``text/``: what the source wrote;
- ``bin/``: ``{split}.first`` and ``{split}.second`` in fairseq's binarised form, ``{split}.labels``, a number a line,
  and the corpus' dictionary;
- ``manifest.json``: as of every corpus, with ``labels``, how many pairs of each split have each label, and
  ``pre_trained_on``, how many sentences of valid and test are in the corpus' train.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig

from lnexp.checks import check_name
from lnexp.corpora import prepare as corpora
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.fairseq_data import IndexedDatasetWriter, number_type, read_vocabulary
from lnexp.corpora.finish import Finish
from lnexp.corpora.prepare import PreparedCorpus
from lnexp.corpora.segmentation import segmenter
from lnexp.corpora.text import SPLITS, read_lines, stream_lines
from lnexp.errors import UserError
from lnexp.hashing import short_hash
from lnexp.plain import plain

#: The sides of a pair, as files are called by them.
SIDES = ("first", "second")


class LabelledPair(NamedTuple):
    """Two sentences, and the number of their class, from 0."""

    label: int
    first: str
    second: str


def finished(pairs: Sequence[LabelledPair], finish: Finish) -> list[LabelledPair]:
    """Return pairs with their sentences finished."""
    sides = (finish.lines([getattr(pair, side) for pair in pairs]) for side in SIDES)
    return [LabelledPair(pair.label, *both) for pair, *both in zip(pairs, *sides, strict=True)]


def write_pairs(folder: Path, split: str, pairs: Iterable[LabelledPair]) -> None:
    """Write the pairs of a split, a line each: label, sentence and sentence, with tabulators between them.

    A tabulator within a sentence is written as a space.
    """
    sides = ((pair.label, *(getattr(pair, side).replace("\t", " ") for side in SIDES)) for pair in pairs)
    rows = (f"{label}\t{first}\t{second}\n" for label, first, second in sides)
    (folder / f"{split}.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")


def read_pairs(path: Path) -> list[LabelledPair]:
    """Return the pairs of a file that :func:`write_pairs` has written."""
    rows = (line.split("\t") for line in read_lines(path))
    return [LabelledPair(int(label), first, second) for label, first, second in rows]


def text_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the corpus that pairs are prepared beside, given those of both."""
    return {name: value for name, value in settings.items() if name != "pairs"}


def pairs_folder(data: DictConfig, data_dir: str | Path) -> Path:
    """Return the folder of the pairs of a corpus, whether it exists or not. Raises UserError for invalid settings."""
    settings = plain(data)
    check_name("data.pairs.name", data.pairs.name)
    return Path(data_dir) / f"{data.name}-{data.pairs.name}-{short_hash(corpora.contents(settings))}"


def prepare_pairs(data: DictConfig, data_dir: str | Path) -> PreparedCorpus:
    """Prepare the pairs of a corpus unless they exist, and before them the corpus.

    Args:
        data: the resolved config group ``data``, with ``pairs``.
        data_dir: the folder of prepared corpora.

    Raises:
        UserError: where the corpus or the pairs are missing or malformed, or what was prepared is damaged.
        OSError: where ``data_dir`` cannot be written to.
    """
    settings = plain(data)
    text = corpora.prepare(DictConfig(text_settings(settings)), data_dir)

    def build(folder: Path, context: PreparationContext) -> None:
        _build(settings, text.folder, folder, context)

    return corpora.prepared_at(pairs_folder(data, data_dir), settings, build)


def _build(settings: dict[str, Any], text: Path, folder: Path, context: PreparationContext) -> None:
    for name in ("text", "bin"):
        (folder / name).mkdir()
    named = {"pairs": {key: value for key, value in settings["pairs"].items() if key != "name"}}
    report = corpora.make_part("pairs", named, folder / "text", context) or {}
    pairs = {split: read_pairs(folder / "text" / f"{split}.tsv") for split in SPLITS}
    if empty := [split for split in SPLITS if not pairs[split]]:
        raise UserError(f"data.pairs={settings['pairs']['name']}: {empty[0]} has no pair")
    language = settings["target_lang"] or settings["source_lang"]
    dictionary = f"dict.{language}.txt"
    shutil.copyfile(text / "bin" / dictionary, folder / "bin" / dictionary)
    cut = segmenter(corpora.subwords_of(settings), text, text / "bin" / dictionary)
    kind = number_type(len(read_vocabulary(text / "bin" / dictionary)))
    counts = {split: Counter(words=0, subwords=0, unknown=0) for split in SPLITS}
    for split in SPLITS:
        for side in SIDES:
            segmented = cut.segment([getattr(pair, side) for pair in pairs[split]])
            with IndexedDatasetWriter(folder / "bin" / f"{split}.{side}", kind) as dataset:
                dataset.add(segmented.numbers, segmented.sizes)
            counts[split].update(words=segmented.words, subwords=segmented.subwords, unknown=segmented.unknown)
        labels = "".join(f"{pair.label}\n" for pair in pairs[split])
        (folder / "bin" / f"{split}.labels").write_text(labels, encoding="utf-8")
    content = {
        "settings": settings,
        **report,
        "pairs": {split: len(pairs[split]) for split in SPLITS},
        "labels": {split: _sorted_counts(pairs[split]) for split in SPLITS},
        "pre_trained_on": _in_train([*pairs["valid"], *pairs["test"]], text / "text" / f"train.{language}"),
        "tokens": {split: dict(counts[split]) for split in SPLITS},
    }
    corpora.write_manifest(folder, content)


def _in_train(pairs: Iterable[LabelledPair], train: Path) -> dict[str, int]:
    """Return how many different sentences pairs have, and how many of them are lines of a text."""
    sentences = {sentence for pair in pairs for sentence in (pair.first, pair.second)}
    return {"sentences": len(sentences), "in_train": len(sentences.intersection(stream_lines(train)))}


def _sorted_counts(pairs: Iterable[LabelledPair]) -> dict[str, int]:
    return {str(label): count for label, count in sorted(Counter(pair.label for pair in pairs).items())}
