"""Prepare a corpus by its settings, once, into a folder named after them.

A prepared corpus is a folder ``<data_dir>/<name>-<hash8>/``:

- ``text/``: ``{train,valid,test}.{language}``, tokenised, before subwords; BLEU is computed against it;
- ``subwords/``: the same files in subwords; what the method of segmentation learned is beside this folder;
- ``bin/``: fairseq's binarised data and dictionaries;
- ``manifest.json``: settings, sources, counts at each step, checksums and tool versions.

It is built in a temporary folder that is renamed in the end, so a folder of this name is complete.
"""

import copy
import inspect
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NotRequired, TypedDict

from omegaconf import DictConfig

from lnexp.checks import check_flag, check_name
from lnexp.corpora import binarise
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.fairseq_data import check_index
from lnexp.corpora.fetch import mirror_of_the_environment
from lnexp.corpora.subwords import Subwords
from lnexp.corpora.text import SPLITS, count_lines, count_sentences, read_lines
from lnexp.errors import UserError, near_names
from lnexp.files import locked, naming
from lnexp.hashing import cached_sha256, file_digest, short_hash
from lnexp.options import Table
from lnexp.plain import drop, plain
from lnexp.schema import Count, read_json
from lnexp.versions import version

TOOLS = ("lnexp", "sacremoses", "sentencepiece", "subword-nmt")


class Sizes(TypedDict):
    """The number of pairs of each split."""

    train: Count
    valid: Count
    test: Count


class Step(TypedDict):
    """How many pairs of a split were read, and left out, by the reason."""

    read: Count
    left_out: dict[str, Count]


class Manifest(TypedDict):
    """The content of ``manifest.json``; a corpus of pairs has more.

    Attributes:
        settings: the config of the corpus.
        pairs: of each split; of a corpus of one language, its sentences.
        part_of: the known corpus that it is a part of, if any.
        mended, steps: what was repaired, and pairs read and left out by split.
        held_out: of parallel text, the pairs of valid and test, and those of them that are in train, too.
        pre_trained_on: of labelled pairs, the sentences of valid and test, and those in the corpus' train.
        sha256: of the files of text.
        bytes, digests: of all files.
    """

    settings: dict[str, Any]
    pairs: Sizes
    part_of: NotRequired[str | None]
    mended: NotRequired[dict[str, Count]]
    steps: NotRequired[dict[str, Step]]
    held_out: NotRequired[dict[str, Count]]
    pre_trained_on: NotRequired[dict[str, Count]]
    sha256: dict[str, str]
    bytes: dict[str, Count]
    digests: dict[str, str]


@dataclass(frozen=True)
class PreparedCorpus:
    """A prepared corpus on disk."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of ``manifest.json``. Raises UserError where it is missing or malformed."""
        try:
            manifest: dict[str, Any] = read_json(self.folder / "manifest.json", Manifest)
            return manifest
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{self.folder / 'manifest.json'}: missing or malformed ({error}); {self._advice}"
            ) from None

    @property
    def _advice(self) -> str:
        return f"remove {self.folder} to have it prepared again"

    def check(self, settings: dict[str, Any]) -> None:
        """Check that the files are those that were prepared, by these settings.

        Args:
            settings: the plain config of the corpus.

        Raises:
            UserError: where it was prepared by other settings; where a file is missing, or its size or checksum is not
                that of the manifest; where there is a file that the manifest does not name, hidden ones aside, or an
                index is damaged.
        """
        manifest = self.manifest
        if contents(manifest["settings"]) != contents(settings):
            raise UserError(f"{self.folder / 'manifest.json'}: is of a corpus with other settings; {self._advice}")
        for name, size in manifest["bytes"].items():
            path = self.folder / name
            found = path.stat().st_size if path.is_file() else None
            if found != size:
                problem = "missing" if found is None else f"{found:,} bytes, not {size:,}"
                raise UserError(f"{path}: {problem}; {self._advice}")
            if cached_sha256(path) != manifest["digests"].get(name):
                raise UserError(f"{path}: is not what was prepared (its checksum is another); {self._advice}")
        for path in (*self.bin.glob("[!.]*"), *(self.folder / "text").glob("[!.]*")):
            # what trains must be what was checked
            if not path.is_file() or str(path.relative_to(self.folder)) not in manifest["bytes"]:
                raise UserError(f"{path}: is none of the files that were prepared; {self._advice}")
        for index in sorted(self.bin.glob("*.idx")):
            try:
                check_index(index.with_suffix(""))
            except ValueError as error:
                raise UserError(f"{index}: damaged ({error}); {self._advice}") from error

    def lines(self, split: str, language: str) -> list[str]:
        """Return the tokenised sentences of one language of a split, before subwords."""
        return read_lines(self.folder / "text" / f"{split}.{language}")


def contents(settings: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the settings of a corpus without those that say where its files are."""
    config = {"data": copy.deepcopy(settings)}
    for option in Table().rows:
        if option.locates:
            drop(config, option.name)
    return config["data"]


def prepare(data: DictConfig, data_dir: str | Path) -> PreparedCorpus:
    """Prepare a corpus unless it exists; a second process that prepares the same one waits.

    Args:
        data: the resolved config group ``data``.
        data_dir: the folder of prepared corpora and downloads.

    Raises:
        UserError: where the text is missing or malformed, or a prepared corpus is damaged.
        OSError: where ``data_dir`` cannot be written to.
    """
    settings = plain(data)
    return prepared_at(corpus_folder(data, data_dir), settings, partial(_build, settings))


def prepared_at(
    final: Path, settings: dict[str, Any], build: Callable[[Path, PreparationContext], None]
) -> PreparedCorpus:
    """Return the corpus of a folder; where there is no such folder, have it built aside and rename it.

    Args:
        final: the folder.
        settings: the plain config of the corpus.
        build: writes a corpus into the folder that it is given.

    Raises:
        UserError, OSError: as :func:`prepare` does.
    """
    if not final.is_dir():
        with locked(final.with_name(f".{final.name}.lock")):
            if not final.is_dir():
                _build_and_rename(build, final)
    corpus = PreparedCorpus(final)
    corpus.check(settings)
    return corpus


def corpus_folder(data: DictConfig, data_dir: str | Path) -> Path:
    """Return the folder of a prepared corpus, whether it exists or not. Raises UserError for invalid settings."""
    settings = plain(data)
    if settings["source_lang"] == settings["target_lang"]:
        raise UserError(f"data.target_lang={data.target_lang}: must be another language than data.source_lang")
    check_flag("data.joined_dictionary", data.joined_dictionary)
    for option in ("name", "source_lang", "target_lang"):
        if option == "name" or settings[option] is not None:  # a corpus of one language has no target
            check_name(f"data.{option}", settings[option])
    return Path(data_dir) / f"{data.name}-{short_hash(contents(settings))}"


def _build_and_rename(build: Callable[[Path, PreparationContext], None], final: Path) -> None:
    for left_over in final.parent.glob(f".{final.name}-*/"):  # of a killed process: this one holds the lock
        shutil.rmtree(left_over, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    try:
        with (
            naming(final),
            PreparationContext(final.parent / "downloads", mirror_of_the_environment()) as context,
        ):
            build(aside, context)
        os.chmod(aside, 0o755)
        aside.rename(final)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _build(settings: dict[str, Any], folder: Path, context: PreparationContext) -> None:
    text = folder / "text"
    text.mkdir()
    subwords = subwords_of(settings)  # first, because this checks its options before the long work
    report = make_part("text", settings, text, context) or {}
    languages = tuple(language for language in (settings["source_lang"], settings["target_lang"]) if language)
    corpus = binarise.TokenisedCorpus(folder, languages, subwords)
    pairs = {split: _size(corpus, split) for split in SPLITS}
    tokens = binarise.binarise(corpus, settings["joined_dictionary"], context)
    write_manifest(folder, {"settings": settings, **report, "pairs": pairs, "tokens": tokens})


def _size(corpus: binarise.TokenisedCorpus, split: str) -> int:
    """Return how many pairs a split has, or sentences of one language.

    Raises:
        UserError: for a language that was not written, for languages of unequal length, as a file of one's own may
            write them, and for a split without a sentence.
    """
    for language in corpus.languages:
        if not corpus.text(split, language).is_file():
            raise UserError(f"data.source_lang, data.target_lang: the corpus has no {split} in {language}")
    count = count_lines if len(corpus.languages) > 1 else count_sentences  # an empty line of one ends a document
    sizes = {language: count(corpus.text(split, language)) for language in corpus.languages}
    if len(set(sizes.values())) > 1:
        raise UserError(f"{split}: {' and '.join(f'{size:,} lines of {name}' for name, size in sizes.items())}")
    if not (size := sizes[corpus.languages[0]]):
        raise UserError(f"data: the corpus has no sentence in {split}")
    return size


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write ``manifest.json`` of a corpus whose other files are there: its content, and what is true of every corpus.

    Args:
        folder: of the corpus.
        content: ``settings``, ``pairs`` and what else is to be known of it.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    manifest = {
        **content,
        "sha256": {path.name: file_digest(path) for path in sorted((folder / "text").iterdir())},
        "bytes": {str(path.relative_to(folder)): path.stat().st_size for path in files},
        "digests": {str(path.relative_to(folder)): file_digest(path) for path in files},
        "tools": {tool: version(tool) for tool in TOOLS},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def subwords_of(settings: dict[str, Any]) -> Subwords:
    """Return the method of segmentation of a corpus. Raises UserError for options that it does not have."""
    return make_part("subword", settings)


#: What the ``_target_`` of a part may be, since a config may come from others: what a file of this package defines.
TARGETS = {
    "text": "lnexp.corpora.FILE.write",
    "subword": "lnexp.corpora.subwords.FILE.CLASS",
    "pairs": "lnexp.corpora.labelled_pairs.FILE.write",
}


def _target(part: str, name: str) -> Callable[..., Any]:
    """Return what ``_target_`` names. Raises UserError for anything but :data:`TARGETS`."""
    module, _, attribute = name.rpartition(".")
    if re.fullmatch(re.sub("FILE|CLASS", r"\\w+", TARGETS[part]), name):
        target = getattr(_module(module), attribute, None)
        if callable(target) and target.__module__ == module:
            return target
    raise UserError(f"data.{part}._target_={name}: must be {TARGETS[part]}")


def _module(name: str) -> ModuleType | None:
    """Return a module; None where there is none. Raises UserError where it cannot be imported."""
    try:
        return import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == name:
            return None
        raise UserError(f"{name}: {error}") from error


def make_part(part: str, settings: dict[str, Any], *arguments: Any) -> Any:
    """Call the ``_target_`` of a part of the config with the part's other options, and return the result.

    Raises:
        UserError: for a target that is none of ours, options that it does not have, or one that it needs.
    """
    target = _target(part, str(settings[part]["_target_"]))
    options = {key: value for key, value in settings[part].items() if key != "_target_"}
    signature = inspect.signature(target)
    for option in options:
        if option not in signature.parameters:
            raise UserError(f"data.{part}.{option}: no such option; {near_names(option, signature.parameters)}")
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        raise UserError(f"data.{part}: {error}") from error
    return target(*arguments, **options)
