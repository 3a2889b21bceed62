"""Write the tokenised and filtered text of a corpus from its files: ``{train,valid,test}.{language}``.

All corpora that exist as files share this code; they differ in their configs in ``configs/data``.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

from tqdm import tqdm

from lnexp.checks import check_choice, check_flag, check_whole
from lnexp.corpora import known
from lnexp.corpora.cleaning import PairFilter
from lnexp.corpora.context import PreparationContext, Progress
from lnexp.corpora.fetch import Download, fetch, provenance
from lnexp.corpora.language_pair import FilePair, count_pairs, file_pair
from lnexp.corpora.moses import missing_rules_warning
from lnexp.corpora.preprocessing import Pair, Preprocessing, chunks_of, preprocess
from lnexp.corpora.text import SPLITS, stream_lines
from lnexp.errors import UserError, near_names
from lnexp.hashing import file_digest


def write(
    folder: Path,
    context: PreparationContext,
    *,
    source_lang: str,
    target_lang: str,
    splits: dict[str, list[dict[str, str]]],
    root: str | None,
    downloads: dict[str, Any] | None,
    hold_out: int | None,
    tokenizer: Literal["moses", "none"],
    lowercase: bool,
    bad_lines: Literal["refuse", "drop", "keep"],
    pair_filter: dict[str, Any] | None,
    drop_duplicates: bool,
    known_as: str | None,
    part_of: str | None,
    sha256: str | None = None,
) -> dict[str, Any]:
    """Write ``{train,valid,test}.{language}`` into ``folder``.

    Args:
        folder: to write to.
        context: worker processes and downloads.
        source_lang, target_lang: language codes.
        splits: the files of each split, as ``{source, target, form}``. A file is a path below ``root``, or
            ``download!member`` of an archive in ``downloads``.
        root: the user's folder or archive; None where everything is downloaded.
        downloads: ``base_url``, ``corpus`` and ``files`` (by path, with size and checksum); see ``fetch.Download``.
        hold_out: every pair of train whose number is a multiple of this goes to valid; None: no pair does.
        tokenizer, lowercase, bad_lines, pair_filter: see :class:`Preprocessing`. They leave out pairs of train only
            (and of what is held out of it), never of valid or test.
        drop_duplicates: whether train has every pair once.
        known_as: the known corpus that this must equal (``known.py``).
        part_of: the known corpus of which this has a part of train, and the whole valid and test sets.
        sha256: of the files below ``root``; it only makes the settings of different texts differ.

    Returns:
        For the manifest: ``sources``, ``steps`` (pairs read, left out and kept), ``mended`` (repaired lines),
        ``part_of``, ``held_out`` (how many ``pairs`` valid and test have, and how many of them are ``in_train``).

    Raises:
        UserError: for a missing or damaged file, files with different numbers of lines, a refused line (with its file
            and number), or a result that differs from the known corpus.
    """
    check_choice("data.text.tokenizer", tokenizer, ("moses", "none"))
    check_choice("data.text.bad_lines", bad_lines, ("refuse", "drop", "keep"))
    check_choice("data.text.known_as", known_as, (None, *known.KNOWN))
    check_choice("data.text.part_of", part_of, (None, *known.KNOWN))
    check_flag("data.text.lowercase", lowercase)
    check_flag("data.text.drop_duplicates", drop_duplicates)
    if hold_out is not None:
        check_whole("data.text.hold_out", hold_out, least=2)
    if tokenizer == "moses":
        for warning in filter(None, map(missing_rules_warning, (source_lang, target_lang))):
            tqdm.write(warning)
    fetched = _fetch_all(downloads, context)
    paths = {download.path: path for download, path in fetched}
    files = {split: [file_pair(file, root, paths) for file in splits.get(split) or []] for split in SPLITS}
    train = Preprocessing((source_lang, target_lang), tokenizer, lowercase, bad_lines, _filter(pair_filter))
    pipeline = TextPipeline(files, train, hold_out, drop_duplicates, context)
    counts = pipeline.write(folder)
    return {
        "sources": _sources(fetched, files),
        "steps": {split: _summary(steps, counts[split]) for split, steps in pipeline.steps.items()},
        "mended": dict(pipeline.repaired),  # the key of manifests that are published
        "part_of": _check(folder, counts, known_as, part_of),
        "held_out": _in_train(folder, train.languages),
    }


class TextPipeline:
    """Reads the files of all splits, preprocesses them and writes the text of all splits.

    Attributes:
        steps: by split, the number of pairs that were read (``read``), and of those left out, by reason.
        repaired: numbers of lines that ``decode`` changed, by file and change.
    """

    def __init__(
        self,
        files: dict[str, list[FilePair]],
        train: Preprocessing,
        hold_out: int | None,
        drop_duplicates: bool,
        context: PreparationContext,
    ):
        self._files, self._train, self._context = files, train, context
        self._hold_out, self._drop_duplicates = hold_out, drop_duplicates
        self._totals = count_pairs([pair for split in SPLITS for pair in files[split]], context)
        self.steps = {split: Counter[str]() for split in SPLITS}
        self.repaired = Counter[str]()

    def write(self, folder: Path) -> Counter[str]:
        """Write ``{train,valid,test}.{language}`` into ``folder``, and return the number of pairs of each split."""
        with SplitWriter(folder, self._train.languages) as writer:
            for split in SPLITS:
                for number, pair in enumerate(self._kept(split), start=1):
                    held_out = split == "train" and self._hold_out and number % self._hold_out == 0
                    writer.add("valid" if held_out else split, pair)
        return writer.counts

    def _kept(self, split: str) -> Iterator[Pair]:
        if split != "train":
            return self._preprocessed(split, self._train.for_held_out())
        pairs = self._preprocessed(split, self._train)
        return _without_duplicates(pairs, self.steps[split]) if self._drop_duplicates else pairs

    def _preprocessed(self, split: str, steps: Preprocessing) -> Iterator[Pair]:
        """Yield the pairs of a split that are kept, and count the others by reason."""
        chunks = (chunk for files in self._files[split] for chunk in chunks_of(files))
        total = sum(self._totals[files] for files in self._files[split])
        with Progress(f"tokenise {split}", total, "pairs") as progress:
            for result in self._context.map(partial(preprocess, steps), chunks):
                read = len(result.pairs) + result.dropped.total()
                self.steps[split].update(result.dropped, read=read)
                self.repaired.update(result.repaired)
                progress.advance(read)
                yield from result.pairs


class SplitWriter:
    """Appends pairs to the files of the splits, and counts them."""

    def __init__(self, folder: Path, languages: tuple[str, str]):
        self._stack = ExitStack()
        self._files = {
            split: [
                self._stack.enter_context((folder / f"{split}.{language}").open("w", encoding="utf-8", newline="\n"))
                for language in languages
            ]
            for split in SPLITS
        }
        self.counts: Counter[str] = Counter(dict.fromkeys(SPLITS, 0))

    def __enter__(self) -> "SplitWriter":
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()

    def add(self, split: str, pair: Pair) -> None:
        for file, line in zip(self._files[split], pair, strict=True):
            file.write(f"{line}\n")
        self.counts[split] += 1


def _filter(options: dict[str, Any] | None) -> PairFilter | None:
    if options is not None and not isinstance(options, dict):
        raise UserError(f"data.text.pair_filter={options}: must be null or a set of options")
    known_options = [field.name for field in fields(PairFilter)]
    for option, value in (options or {}).items():
        if option not in known_options:
            raise UserError(f"data.text.pair_filter.{option}: no such option; {near_names(option, known_options)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
            raise UserError(f"data.text.pair_filter.{option}={value}: must be a number, at least 1")
    return PairFilter(**options) if options else None


def _fetch_all(downloads: dict[str, Any] | None, context: PreparationContext) -> list[tuple[Download, Path]]:
    if not downloads:
        return []
    place = {"base_url": downloads["base_url"], "corpus": downloads["corpus"]}
    wanted = [Download(path, **place, **(facts or {})) for path, facts in downloads["files"].items()]
    return [(download, fetch(download, context)) for download in wanted]


def _sources(fetched: list[tuple[Download, Path]], files: dict[str, list[FilePair]]) -> dict[str, Any]:
    """Return the manifest's entries of all files: downloads with their address, the user's files with their path."""
    sources = {download.path: provenance(download, path) for download, path in fetched}
    paths = {file.location.path for split in files.values() for pair in split for file in pair}
    own = sorted(paths - {path for _, path in fetched})
    above = os.path.commonpath([path.parent for path in own]) if own else ""
    names = Counter(path.name for path in own)
    return sources | {
        path.name if names[path.name] == 1 else str(path.relative_to(above)): {
            "address": str(path),
            "bytes": path.stat().st_size,
            "sha256": file_digest(path),
        }
        for path in own
    }


def _in_train(folder: Path, languages: Sequence[str]) -> dict[str, int]:
    """Return how many pairs valid and test have together, and how many of these are in train, too."""

    def pairs(split: str) -> Iterator[tuple[str, ...]]:
        return zip(*(stream_lines(folder / f"{split}.{language}") for language in languages), strict=True)

    held_out = Counter(pair for split in ("valid", "test") for pair in pairs(split))
    return {
        "pairs": held_out.total(),
        "in_train": sum(held_out[pair] for pair in {pair for pair in pairs("train") if pair in held_out}),
    }


def _without_duplicates(pairs: Iterable[Pair], steps: Counter[str]) -> Iterator[Pair]:
    """Yield every pair once, and count the others; pairs are compared by a digest of eight bytes."""
    seen: set[bytes] = set()
    for pair in pairs:
        digest = hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()
        if digest in seen:
            steps["duplicate"] += 1
        else:
            seen.add(digest)
            yield pair


def _summary(steps: Counter[str], kept: int) -> dict[str, Any]:
    """Return the manifest's entry of a split: numbers of pairs read, left out by reason, and kept."""
    left_out = {reason: count for reason, count in sorted(steps.items()) if reason != "read"}
    return {"read": steps["read"], "left_out": left_out, "kept": kept}


def _check(folder: Path, counts: Counter[str], known_as: str | None, part_of: str | None) -> str | None:
    """Check the text; return the known corpus that it equals or is a part of, or None.

    Raises:
        UserError: for an empty split, or a text that differs from the known corpus.
    """
    for split in SPLITS:
        if not counts[split]:
            raise UserError(f"{split}: no sentence pair is left")
    digests = {path.name: file_digest(path) for path in sorted(folder.iterdir())}
    name = known_as or part_of
    if name:
        if wrong := known.differences(name, counts, digests, part=known_as is None):
            raise UserError(
                f"this differs from {known.KNOWN[name].title}: {'; '.join(wrong)} "
                "(data.text.known_as=null data.text.part_of=null accepts it)"
            )
        return name
    return known.recognise(digests)
