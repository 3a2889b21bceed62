"""Downloads: from their own address or a mirror, resumed where they stopped, in place only when verified."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import urllib3
from tqdm import tqdm

from lnexp.corpora.context import Progress, Workshop
from lnexp.errors import UserError
from lnexp.files import locked, write_whole
from lnexp.hashing import file_digest

MIRROR_VARIABLE = "LNEXP_MIRROR"
BLOCK = 1 << 20
#: Seconds to connect, and between two blocks.
TIMEOUT = (15, 60)
#: Tries in a row that bring nothing before a download is given up.
PATIENCE = 3
#: Seconds between two tries.
PAUSE = 1.0


@dataclass(frozen=True)
class Download:
    """A file that somebody publishes.

    Attributes:
        path: below ``base_url``, below a mirror, and below the folder of downloads.
        base_url: the publisher's address.
        corpus: the folder that a mirror may put it in.
        bytes, sha256, md5: what it must be, as far as that is known.
    """

    path: str
    base_url: str
    corpus: str
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None

    def addresses(self, mirror: str | None) -> list[str]:
        """Where to look for it, in turn. With a mirror nowhere else: networks are closed for a reason."""
        if not mirror:
            return [f"{self.base_url.rstrip('/')}/{self.path}"]
        return [f"{mirror.rstrip('/')}/{self.corpus}/{self.path}", f"{mirror.rstrip('/')}/{self.path}"]


class NotThereError(Exception):
    """An address that has no such file."""


def mirror_of_the_environment() -> str | None:
    """What ``LNEXP_MIRROR`` says, if anything; a folder without ``file://`` and ``~``.

    Raises:
        UserError: for an address of another kind.
    """
    mirror = os.environ.get(MIRROR_VARIABLE)
    if not mirror:
        return None
    scheme, separator, rest = mirror.partition("://")
    if not separator:
        return str(Path(mirror).expanduser())
    if scheme.lower() == "file":
        return rest
    if scheme.lower() not in ("http", "https"):
        raise UserError(f"{MIRROR_VARIABLE}={mirror}: must be http://…, https://… or a folder")
    return f"{scheme.lower()}://{rest}"


def fetch(download: Download, workshop: Workshop) -> Path:
    """The verified file, from the folder of downloads or, the first time, from where it is published.

    Raises:
        UserError: where no address has it, a server stops half-way or answers with a web page, or what came is not
            what it should be. What was received stays for the next call, unless it was wrong.
    """
    final = workshop.downloads / download.corpus / download.path
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(_beside(final, ".lock")):
        if final.is_file():
            if _fault(final, download, _receipt(final)) is None:
                return final
            tqdm.write(f"{final}: not what was once verified; fetched again")
            final.unlink()
        part = _beside(final, ".part")
        address = _receive(download, workshop.mirror, part)
        if fault := _fault(part, download):
            part.unlink()
            raise UserError(f"{address}: {fault}")
        write_whole(_beside(final, ".sha256"), file_digest(part) + "\n")
        part.rename(final)
    return final


def provenance(download: Download, final: Path) -> dict[str, Any]:
    """What a manifest says of a download."""
    return {
        "address": f"{download.base_url.rstrip('/')}/{download.path}",
        "bytes": final.stat().st_size,
        "sha256": _receipt(final),
        "checked_against": [name for name in ("bytes", "sha256", "md5") if getattr(download, name)],
    }


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}{suffix}")


def _receipt(final: Path) -> str | None:
    """The SHA-256 that a landed file had, whether or not the publisher's is known."""
    receipt = _beside(final, ".sha256")
    return receipt.read_text().strip() if receipt.is_file() else None


def _fault(path: Path, download: Download, receipt: str | None = None) -> str | None:
    size = path.stat().st_size
    if download.bytes is not None and size != download.bytes:
        return f"{size:,} bytes, not {download.bytes:,}"
    for algorithm, wanted in (("sha256", download.sha256), ("md5", download.md5), ("sha256", receipt)):
        if wanted and (found := file_digest(path, algorithm)) != wanted:
            return f"{algorithm} is {found}, not {wanted}"
    return None


def _receive(download: Download, mirror: str | None, part: Path) -> str:
    """Bring the file to ``part``, and say from where."""
    addresses = download.addresses(mirror)
    answers = []
    for address in addresses:
        try:
            if address.startswith(("http://", "https://")):
                _receive_by_http(address, part, download.bytes)
            else:
                _copy(Path(address), part)
        except NotThereError as answer:
            answers.append(f"{address}: {answer}")
            continue
        return address
    hint = "" if mirror else f"; {MIRROR_VARIABLE} names a mirror (http, https or a folder)"
    raise UserError(f"{' and '.join(answers)}{hint}")


def _copy(source: Path, part: Path) -> None:
    if not source.is_file():
        raise NotThereError("no such file")
    with source.open("rb") as here, _opened(part, 0) as there:
        shutil.copyfileobj(here, there, BLOCK)


def _receive_by_http(address: str, part: Path, size: int | None) -> None:
    tries_left, most = PATIENCE, 0
    while True:
        had = part.stat().st_size if part.is_file() else 0
        if size is not None and had == size:
            return
        problem = _receive_more(address, part, had)
        has = part.stat().st_size if part.is_file() else 0
        if problem is None and size is not None and has < size:
            problem = f"stopped after {has:,} of {size:,} bytes"
        if problem is None:
            return
        tries_left = PATIENCE if has > most else tries_left - 1
        most = max(has, most)
        if not tries_left:
            kept = f"; {has:,} bytes are kept, the next call goes on from there" if has else ""
            raise UserError(f"{address}: {problem}{kept}")
        if tries_left < PATIENCE:
            time.sleep(PAUSE)


def _receive_more(address: str, part: Path, had: int) -> str | None:
    """One request for what is missing; what went wrong, if anything, in words.

    Raises:
        NotThereError: where the server has no such file.
        UserError: where it says something that a second try will not change.
    """
    # identity: a server must not unpack .gz files on the way
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={had}-"} if had else {})
    try:
        with requests.get(address, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code in (403, 404, 410):  # some say 403 of what they do not have
                raise NotThereError(f"answers {response.status_code} {response.reason}")
            if response.status_code == 416:  # nothing after what we have: it is another file, or all of it
                part.unlink()
                return "answers 416 (range not satisfiable)"
            if response.status_code >= 500:
                return f"answers {response.status_code} {response.reason}"
            if response.status_code not in (200, 206):
                raise UserError(f"{address}: answers {response.status_code} {response.reason}")
            if response.headers.get("Content-Type", "").startswith("text/html"):
                raise NotThereError("answers with a web page (HTML), not with the file")
            resumed = had if response.status_code == 206 else 0
            return _append(response, part, resumed, address)
    except (requests.RequestException, ValueError) as error:  # ValueError: an address or a length that is none
        return f"no connection ({type(error).__name__})"


def _append(response: requests.Response, part: Path, resumed: int, address: str) -> str | None:
    length = response.headers.get("Content-Length")
    total = resumed + int(length) if length else None
    broken = False
    with _opened(part, resumed) as file, Progress(address.rpartition("/")[2], total, "B") as progress:
        progress.advance(resumed)
        try:
            for block in response.raw.stream(BLOCK, decode_content=False):
                file.write(block)
                progress.advance(len(block))
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            broken = True
        has = file.tell()
    if broken or (total is not None and has != total):
        return f"stopped after {has:,}{'' if total is None else f' of {total:,}'} bytes"
    return None


@contextmanager
def _opened(part: Path, resumed: int) -> Iterator[Any]:
    try:
        with part.open("r+b" if resumed else "wb") as file:
            file.seek(resumed)
            yield file
    except OSError as error:
        error.filename = error.filename or str(part)  # a full disk does not say what it is full of
        raise
