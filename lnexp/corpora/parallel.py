"""Parallel text from wherever it lies to ``{train,valid,test}.{language}``, tokenised and filtered.

One road for every corpus that exists as files: what differs between them stands in ``configs/data``.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from tqdm import tqdm

from lnexp.checks import check_choice, check_flag, check_whole
from lnexp.corpora import known
from lnexp.corpora.cleaning import PairFilter
from lnexp.corpora.context import Progress, Workshop
from lnexp.corpora.fetch import Download, fetch, provenance
from lnexp.corpora.language_pair import Sides, count_pairs, sides_of
from lnexp.corpora.moses import without_rules
from lnexp.corpora.preprocessing import Pair, Treatment, Work, chunks_of, treat
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError, near_names
from lnexp.hashing import file_digest


def write(
    folder: Path,
    workshop: Workshop,
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
        splits: of each split, the files: ``{source, target, form}``. A file is a path below ``root``, or
            ``download!member`` of an archive that ``downloads`` names.
        root: a folder or an archive; None where everything is downloaded.
        downloads: ``base_url``, ``corpus`` and ``files`` (path: what is known of it); see ``fetch.Download``.
        hold_out: every so many-th kept pair of train goes to valid instead.
        tokenizer, lowercase, bad_lines, pair_filter: see ``Treatment``. Only train is filtered, dropped from and
            freed of duplicates (and what is held out of it): a sentence of valid or test is never left out.
        known_as: the known corpus that this must be (``known.py``).
        part_of: the known corpus of which this has a part of train, and all of the rest.
        sha256: of the files below ``root``; tells corpora apart, nothing more.

    Returns:
        For the manifest: ``sources``, ``steps`` (what was read, left out and kept), ``mended``, ``part_of``.

    Raises:
        UserError: for a file that cannot be had or read, sides that differ in their number of lines, a line that is
            refused (with its file and number), and where the outcome is not what is known of the corpus.
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
        for warning in filter(None, map(without_rules, (source_lang, target_lang))):
            tqdm.write(warning)
    fetched = _fetch_all(downloads, workshop)
    paths = {download.path: path for download, path in fetched}
    files = {split: [sides_of(file, root, paths) for file in splits.get(split) or []] for split in SPLITS}
    train = Treatment((source_lang, target_lang), tokenizer, lowercase, bad_lines, _filter(pair_filter))
    road = Road(files, train, hold_out, drop_duplicates, workshop)
    counts = road.write(folder)
    return {
        "sources": _sources(fetched, files),
        "steps": {split: _in_words(step, counts[split]) for split, step in road.steps.items()},
        "mended": dict(road.mended),
        "part_of": _check(folder, counts, known_as, part_of),
    }


class Road:
    """From the files of each split to the text of each split.

    Attributes:
        steps: of each split, how many pairs were read, and how many left out for which reason.
        mended: what was taken away from how many lines of which file.
    """

    def __init__(
        self,
        files: dict[str, list[Sides]],
        train: Treatment,
        hold_out: int | None,
        drop_duplicates: bool,
        workshop: Workshop,
    ):
        self._files, self._train, self._workshop = files, train, workshop
        self._hold_out, self._drop_duplicates = hold_out, drop_duplicates
        self._totals = count_pairs([sides for split in SPLITS for sides in files[split]], workshop)
        self.steps = {split: Counter[str]() for split in SPLITS}
        self.mended = Counter[str]()

    def write(self, folder: Path) -> Counter[str]:
        """Write ``{train,valid,test}.{language}``, and return the number of pairs in each split."""
        with Writer(folder, self._train.languages) as writer:
            for split in SPLITS:
                for number, pair in enumerate(self._kept(split), start=1):
                    held_out = split == "train" and self._hold_out and number % self._hold_out == 0
                    writer.add("valid" if held_out else split, pair)
        return writer.counts

    def _kept(self, split: str) -> Iterator[Pair]:
        if split != "train":
            return self._treated(split, self._train.for_held_out())
        pairs = self._treated(split, self._train)
        return _without_duplicates(pairs, self.steps[split]) if self._drop_duplicates else pairs

    def _treated(self, split: str, treatment: Treatment) -> Iterator[Pair]:
        """The pairs of a split that stay, as a stream; what happens to the others is counted."""
        work = (Work(treatment, chunk) for sides in self._files[split] for chunk in chunks_of(sides))
        total = sum(self._totals[sides] for sides in self._files[split])
        with Progress(f"tokenise {split}", total, "pairs") as progress:
            for treated in self._workshop.map(treat, work):
                read = len(treated.pairs) + treated.dropped.total()
                self.steps[split].update(treated.dropped, read=read)
                self.mended.update(treated.mended)
                progress.advance(read)
                yield from treated.pairs


class Writer:
    """Appends pairs to the files of the splits."""

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

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()

    def add(self, split: str, pair: Pair) -> None:
        for file, line in zip(self._files[split], pair, strict=True):
            file.write(f"{line}\n")
        self.counts[split] += 1


def _filter(options: dict[str, Any] | None) -> PairFilter | None:
    if options is not None and not isinstance(options, dict):
        raise UserError(f"data.text.pair_filter={options}: must be null or have options of its own")
    known_options = [field.name for field in fields(PairFilter)]
    for option, value in (options or {}).items():
        if option not in known_options:
            raise UserError(f"data.text.pair_filter.{option}: no such option; {near_names(option, known_options)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
            raise UserError(f"data.text.pair_filter.{option}={value}: must be a number, at least 1")
    return PairFilter(**options) if options else None


def _fetch_all(downloads: dict[str, Any] | None, workshop: Workshop) -> list[tuple[Download, Path]]:
    if not downloads:
        return []
    place = {"base_url": downloads["base_url"], "corpus": downloads["corpus"]}
    wanted = [Download(path, **place, **(facts or {})) for path, facts in downloads["files"].items()]
    return [(download, fetch(download, workshop)) for download in wanted]


def _sources(fetched: list[tuple[Download, Path]], files: dict[str, list[Sides]]) -> dict[str, Any]:
    """Where the text came from: downloads by their address, files of the user's by their path."""
    sources = {download.path: provenance(download, path) for download, path in fetched}
    places = {side.place.path for split in files.values() for sides in split for side in sides}
    own = sorted(places - {path for _, path in fetched})
    return sources | {
        path.name: {"address": str(path), "bytes": path.stat().st_size, "sha256": file_digest(path)} for path in own
    }


def _without_duplicates(pairs: Iterable[Pair], steps: Counter[str]) -> Iterator[Pair]:
    """Each pair once; eight bytes of a digest stand for one that was seen."""
    seen: set[bytes] = set()
    for pair in pairs:
        digest = hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()
        if digest in seen:
            steps["duplicate"] += 1
        else:
            seen.add(digest)
            yield pair


def _in_words(steps: Counter[str], kept: int) -> dict[str, Any]:
    left_out = {reason: count for reason, count in sorted(steps.items()) if reason != "read"}
    return {"read": steps["read"], "left_out": left_out, "kept": kept}


def _check(folder: Path, counts: Counter[str], known_as: str | None, part_of: str | None) -> str | None:
    """The known corpus that this is a part of, if it is one."""
    for split in SPLITS:
        if not counts[split]:
            raise UserError(f"{split}: no sentence pair is left")
    digests = {path.name: file_digest(path) for path in sorted(folder.iterdir())}
    name = known_as or part_of
    if name:
        if wrong := known.differences(name, counts, digests, part=known_as is None):
            raise UserError(
                f"this is not {known.KNOWN[name].title} as it is known: {'; '.join(wrong)} "
                "(data.text.known_as=null data.text.part_of=null takes it all the same)"
            )
        return name
    return known.recognise(digests)
