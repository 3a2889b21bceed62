"""From a corpus' settings to fairseq's binarised data, once, and for good.

A prepared corpus is a folder ``<data_dir>/<name>-<hash8>/`` named after its settings:

- ``text/``: ``{train,valid,test}.{language}``, tokenised, before subwords: what BLEU is computed against;
- ``subwords/``: the same cut into subwords; beside them what the subwords have learned;
- ``bin/``: fairseq's binarised data and dictionaries;
- ``manifest.json``: settings, sources, counts at each step, checksums and tool versions.

It is built aside and renamed when whole, so a folder that exists is complete.
"""

import importlib.metadata
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import get_class, get_method
from omegaconf import DictConfig

from lnexp.corpora import binarise
from lnexp.corpora.fetch import mirror_of_the_environment
from lnexp.corpora.text import SPLITS, count_lines, read_lines
from lnexp.corpora.workshop import Workshop
from lnexp.files import locked
from lnexp.hashing import file_digest, short_hash
from lnexp.plain import plain

TOOLS = ("lnexp", "sacremoses", "sentencepiece", "subword-nmt")
#: Settings that say where text comes from; what it is stands in their checksums.
INDIFFERENT = (("path",), ("text", "root"), ("text", "downloads", "base_url"))


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


def deciding(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a corpus without those that cannot change what it holds."""
    settings = json.loads(json.dumps(settings))
    for *path, last in INDIFFERENT:
        inner: Any = settings
        for key in path:
            inner = (inner or {}).get(key)
        if inner:
            inner.pop(last, None)
    return settings


def prepare(data: DictConfig, data_dir: str | Path) -> PreparedCorpus:
    """Prepare a corpus unless it lies there already; a second process that wants the same one waits.

    Args:
        data: the resolved config group ``data``.
        data_dir: where prepared corpora and downloads live.

    Raises:
        UserError: where the corpus' own text is at fault, or cannot be had.
        OSError: where ``data_dir`` cannot be written.
    """
    settings = plain(data)
    data_dir = Path(data_dir)
    final = data_dir / f"{data.name}-{short_hash(deciding(settings))}"
    if not final.is_dir():
        with locked(data_dir / f".{final.name}.lock"):
            if not final.is_dir():
                _build_aside(settings, final)
    return PreparedCorpus(final)


def _build_aside(settings: dict[str, Any], final: Path) -> None:
    for left_over in final.parent.glob(f".{final.name}-*/"):  # of a process that was killed: the lock is ours
        shutil.rmtree(left_over, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    try:
        with Workshop(final.parent / "downloads", mirror_of_the_environment()) as workshop:
            _build(settings, aside, workshop)
        os.chmod(aside, 0o755)
        aside.rename(final)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _build(settings: dict[str, Any], folder: Path, workshop: Workshop) -> None:
    text = folder / "text"
    text.mkdir()
    target, options = _target(settings["text"])
    report = get_method(target)(text, workshop, **options) or {}
    target, options = _target(settings["subword"])
    languages = settings["source_lang"], settings["target_lang"]
    corpus = binarise.Corpus(folder, languages, get_class(target)(**options))
    tokens = binarise.binarise(corpus, settings["joined_dictionary"], workshop)
    manifest = {
        "settings": settings,
        **report,
        "pairs": {split: count_lines(corpus.text(split, languages[0])) for split in SPLITS},
        "tokens": tokens,
        "sha256": {path.name: file_digest(path) for path in sorted(text.iterdir())},
        "tools": {tool: importlib.metadata.version(tool) for tool in TOOLS},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _target(settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a part of the config names, and the options for it."""
    return settings["_target_"], {key: value for key, value in settings.items() if key != "_target_"}
