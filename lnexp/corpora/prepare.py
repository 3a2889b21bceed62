"""From a corpus' settings to fairseq's binarised data, once, and for good.

A prepared corpus is a folder ``<data_dir>/<name>-<hash8>/`` named after its settings:

- ``text/``: ``{train,valid,test}.{lang}``, tokenised, before subwords: what BLEU is computed against;
- ``bin/``: fairseq's binarised data and dictionaries;
- ``manifest.json``: settings, counts, checksums and tool versions.

It is built aside and renamed when whole, so a folder that exists is complete, and two processes that prepare the same
corpus at once do no harm.
"""

import importlib.metadata
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import get_method
from omegaconf import DictConfig

from lnexp.corpora.text import SPLITS, read_lines, sha256_of_file
from lnexp.hashing import short_hash
from lnexp.plain import plain

TOOLS = ("ve-fairseq", "subword-nmt")


@dataclass(frozen=True)
class PreparedCorpus:
    """A prepared corpus on disk."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    def lines(self, split: str, language: str) -> list[str]:
        """The tokenised sentences of one side of a split, before subwords."""
        return read_lines(self.folder / "text" / f"{split}.{language}")


def prepare(data: DictConfig, data_dir: str | Path) -> PreparedCorpus:
    """Prepare a corpus unless it lies there already.

    Args:
        data: the resolved config group ``data``.
        data_dir: where prepared corpora live.

    Raises:
        UserError: where the corpus' own text is at fault.
        OSError: where ``data_dir`` cannot be written.
    """
    settings = plain(data)
    final = Path(data_dir) / f"{data.name}-{short_hash(settings)}"
    if not final.is_dir():
        final.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
        try:
            _build(settings, aside)
            _move_into_place(aside, final)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return PreparedCorpus(final)


def _move_into_place(aside: Path, final: Path) -> None:
    os.chmod(aside, 0o755)
    try:
        aside.rename(final)
    except OSError:
        if not final.is_dir():  # else another process was faster, with the same result
            raise


def _build(settings: dict[str, Any], folder: Path) -> None:
    languages = [settings["source_lang"], settings["target_lang"]]
    text, pieces = folder / "text", folder / "pieces"
    text.mkdir()
    _call(settings["text"], text)
    shutil.copytree(text, pieces)
    _call(settings["subword"], pieces, languages)
    _binarise(pieces, folder / "bin", settings)
    for codes in pieces.glob("*.codes"):
        shutil.copy(codes, folder)
    shutil.rmtree(pieces)
    manifest = {
        "settings": settings,
        "pairs": {split: len(read_lines(text / f"{split}.{languages[0]}")) for split in SPLITS},
        "sha256": {path.name: sha256_of_file(path) for path in sorted(text.iterdir())},
        "tools": {tool: importlib.metadata.version(tool) for tool in TOOLS},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _call(settings: dict[str, Any], *arguments: Any) -> None:
    """Call the function that ``_target_`` names with its other settings."""
    keywords = {key: value for key, value in settings.items() if key != "_target_"}
    get_method(settings["_target_"])(*arguments, **keywords)


def _binarise(pieces: Path, destination: Path, settings: dict[str, Any]) -> None:
    """Run ``fairseq-preprocess`` in this process."""
    arguments = ["--source-lang", settings["source_lang"], "--target-lang", settings["target_lang"]]
    for split, option in zip(SPLITS, ("--trainpref", "--validpref", "--testpref"), strict=True):
        arguments += [option, str(pieces / split)]
    arguments += ["--destdir", str(destination)]
    if settings["joined_dictionary"]:
        arguments.append("--joined-dictionary")
    with _quiet():
        from fairseq import options
        from fairseq_cli import preprocess

        preprocess.main(options.get_preprocessing_parser().parse_args(arguments))


@contextmanager
def _quiet() -> Iterator[None]:
    """fairseq's command-line modules log to standard output from the moment they are imported: not here."""
    root = logging.getLogger()
    handlers, disabled = root.handlers[:], root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.handlers[:] = handlers
