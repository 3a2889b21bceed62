"""Put checksums of a user's files into the config, so that other text under the same name is another corpus."""

import re
from pathlib import Path

from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.files import matching
from lnexp.hashing import file_digest, sha256_of_files

#: Between an archive and its member; in a pattern ``[!a]`` is any letter but that.
OF_MEMBER = re.compile(r"(?<!\[)!")


def corpus_sha256(*, _parent_: DictConfig) -> str | None:
    """Return the checksum of the files below ``root`` that the ``splits`` beside it name: ``${lnexp.corpus_sha256:}``.

    Those that ``downloads`` names have checksums of their own, and do not count; it is None where there are no others.
    A split names pairs of files, patterns as ``**/*.txt``, or members of archives as ``archive!member``; text that is
    divided ``by_pivot`` counts, too.

    Raises:
        UserError: where no folder is named, or a file is missing.
    """
    downloaded = set((_parent_.get("downloads") or {}).get("files") or ())
    files = [file for split in _parent_.splits.values() for file in split or ()]
    patterns = [OF_MEMBER.split(file)[0] for file in files if isinstance(file, str)]
    patterns += [by_pivot.path] if (by_pivot := _parent_.get("by_pivot")) else []
    pairs = [file for file in files if not isinstance(file, str)]
    names = [file[side] for file in pairs for side in ("source", "target")]
    own = [name for name in names if OF_MEMBER.split(name)[0] not in downloaded]
    if downloaded and not own:
        return None
    if not _parent_.root:
        raise UserError("data.text.root: not set; of most corpora data.path=… sets it")
    return sha256_of_files(_parent_.root, [*own, *matching(_parent_.root, patterns)])


def pairs_sha256(*, _parent_: DictConfig) -> str:
    """Return the checksum of the files below ``path`` that labelled pairs are made of: ``${lnexp.pairs_sha256:}``.

    The ``files``, or the ``splits``, beside it name them.

    Raises:
        UserError: where one of them is missing.
    """
    return sha256_of_files(_parent_.path, sorted(set((_parent_.get("files") or _parent_.splits).values())))


def file_sha256(path: str | None) -> str | None:
    """Return the checksum of a file; None for none: ``${lnexp.file_sha256:${.model}}``.

    Raises:
        UserError: where there is no such file.
    """
    if path is None:
        return None
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file")
    return file_digest(Path(path))
