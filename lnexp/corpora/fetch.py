"""Download files from their publisher or a mirror: resume partial downloads, verify size and checksums."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from lnexp.addresses import check_address, without_credentials
from lnexp.corpora.context import PreparationContext, Progress
from lnexp.errors import UserError
from lnexp.files import locked, naming, write_whole
from lnexp.hashing import file_digest

MIRROR_VARIABLE = "LNEXP_MIRROR"
BLOCK = 1 << 20
#: Seconds to wait for a connection, and for the next block.
TIMEOUT = (15, 60)
#: Consecutive requests that bring no bytes, after which a download fails.
MAX_FRUITLESS_REQUESTS = 3
#: Where a file's size is not known, it has no more bytes.
MOST_BYTES = 2**37
#: How often a server may send us on.
MOST_REDIRECTS = 10
#: Seconds between two requests.
PAUSE = 1.0


@dataclass(frozen=True)
class Download:
    """A published file.

    Attributes:
        path: relative to ``base_url``, to a mirror, and to the folder of downloads.
        base_url: the publisher's address.
        corpus: the folder that a mirror may have it in.
        bytes, sha256, md5: its size and checksums, as far as they are known.

    Raises:
        UserError: for a path or corpus that leads out of the folder of downloads, or an address of another kind than
            http and https: a config may come from others.
    """

    path: str
    base_url: str
    corpus: str
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None

    def __post_init__(self) -> None:
        for what, path in (("corpus", PurePosixPath(self.corpus)), ("files", PurePosixPath(self.path))):
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise UserError(f"data.text.downloads.{what}: {path} is not within the folder of downloads")
        check_address("data.text.downloads.base_url", self.base_url)

    def addresses(self, mirror: str | None) -> list[str]:
        """Return the addresses to try in turn. With a mirror, no other server is contacted."""
        if not mirror:
            return [f"{self.base_url.rstrip('/')}/{self.path}"]
        return [f"{mirror.rstrip('/')}/{self.corpus}/{self.path}", f"{mirror.rstrip('/')}/{self.path}"]


class MissingFileError(Exception):
    """No file at an address."""


def mirror_of_the_environment() -> str | None:
    """Return the mirror of ``LNEXP_MIRROR``, or None; a folder is returned without ``file://`` and ``~``.

    Raises:
        UserError: for an address that is neither http, https nor a folder.
    """
    mirror = os.environ.get(MIRROR_VARIABLE)
    if not mirror:
        return None
    scheme, separator, rest = mirror.partition("://")
    if not separator:
        if re.match(r"[^/]+:[^/]*@", mirror):  # with a password, perhaps
            raise UserError(f"{MIRROR_VARIABLE}: must be http://…, https://… or a folder")
        return str(Path(mirror).expanduser())
    if scheme.lower() == "file":
        return rest
    if scheme.lower() not in ("http", "https"):
        raise UserError(f"{MIRROR_VARIABLE}={without_credentials(mirror)}: must be http://…, https://… or a folder")
    return f"{scheme.lower()}://{rest}"


def fetch(download: Download, context: PreparationContext) -> Path:
    """Return the path of the verified file in the folder of downloads; download it where it is missing.

    Raises:
        UserError: where no address has it, a server stops sending or answers with a web page, or size or checksum
            are wrong, also of a file that a user put there. A partial file is kept for the next call.
    """
    final = context.downloads / download.corpus / download.path
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(_beside(final, ".lock")):
        if final.is_file():
            recorded = _recorded_sha256(final)
            fault = _fault(final, download, recorded)
            if fault is None:
                return final
            if recorded is None:
                raise UserError(f"{final}: {fault}; it was not downloaded here: move it away, or put another there")
            tqdm.write(f"{final}: changed since it was verified; downloading it again")
        part = _beside(final, ".part")
        address = _download(download, context.mirror, part)
        if fault := _fault(part, download):
            part.unlink()
            raise UserError(f"{address}: {fault}")
        write_whole(_beside(final, ".sha256"), file_digest(part) + "\n")
        part.rename(final)
    return final


def provenance(download: Download, final: Path) -> dict[str, Any]:
    """Return the manifest's entry of a download: address, size, checksum, and what was verified."""
    return {
        "address": f"{download.base_url.rstrip('/')}/{download.path}",
        "bytes": final.stat().st_size,
        "sha256": _recorded_sha256(final) or file_digest(final),
        "checked_against": [name for name in ("bytes", "sha256", "md5") if getattr(download, name)],
    }


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}{suffix}")


def _recorded_sha256(final: Path) -> str | None:
    """Return the SHA-256 that the file had when it was downloaded, or None."""
    record = _beside(final, ".sha256")
    return record.read_text().strip() if record.is_file() else None


def _fault(path: Path, download: Download, recorded: str | None = None) -> str | None:
    """Return how a file differs from what it must be, or None."""
    size = path.stat().st_size
    if download.bytes is not None and size != download.bytes:
        return f"{size:,} bytes, not {download.bytes:,}"
    for algorithm, wanted in (("sha256", download.sha256), ("md5", download.md5), ("sha256", recorded)):
        if wanted and (found := file_digest(path, algorithm)) != wanted:
            return f"{algorithm} is {found}, not {wanted}"
    return None


def _download(download: Download, mirror: str | None, part: Path) -> str:
    """Download the file to ``part``, and return the address that had it."""
    addresses = download.addresses(mirror)
    answers = []
    for address in addresses:
        try:
            if address.startswith(("http://", "https://")):
                _download_by_http(address, part, download.bytes, stays=bool(mirror))
            else:
                _copy(Path(address), part)
        except MissingFileError as answer:
            answers.append(f"{without_credentials(address)}: {answer}")
            continue
        return without_credentials(address)
    hint = "" if mirror else f"; {MIRROR_VARIABLE} names a mirror (http, https or a folder)"
    raise UserError(f"{' and '.join(answers)}{hint}")


def _copy(source: Path, part: Path) -> None:
    if not source.is_file():
        raise MissingFileError("no such file")
    with source.open("rb") as original, _opened(part, 0) as copy:
        shutil.copyfileobj(original, copy, BLOCK)


def _download_by_http(address: str, part: Path, size: int | None, stays: bool) -> None:
    tries_left, most = MAX_FRUITLESS_REQUESTS, 0
    while True:
        had = part.stat().st_size if part.is_file() else 0
        if size is not None and had == size:
            return
        if had > (MOST_BYTES if size is None else size):
            part.unlink()
            raise UserError(f"{without_credentials(address)}: sends more than {size or MOST_BYTES:,} bytes")
        problem = _request_rest(address, part, had, MOST_BYTES if size is None else size, stays)
        has = part.stat().st_size if part.is_file() else 0
        if problem is None and size is not None and has < size:
            problem = f"stopped after {has:,} of {size:,} bytes"
        if problem is None:
            return
        tries_left = MAX_FRUITLESS_REQUESTS if has > most else tries_left - 1
        most = max(has, most)
        if not tries_left:
            kept = f"; {has:,} bytes are kept; the next call resumes the download" if has else ""
            raise UserError(f"{without_credentials(address)}: {problem}{kept}")
        if tries_left < MAX_FRUITLESS_REQUESTS:
            time.sleep(PAUSE)


def _request_rest(address: str, part: Path, had: int, most: int, stays: bool) -> str | None:
    """Request the missing bytes once; return what went wrong, or None.

    Args:
        address: of the file.
        part: what there is of it.
        had: how many bytes that are.
        most: the most bytes that it may have; writing stops soon after.
        stays: whether the server must not send us to another one.

    Raises:
        MissingFileError: where the server has no such file.
        UserError: for an answer that another request will not change.
    """
    # identity: the server must not decompress .gz files
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={had}-"} if had else {})
    try:
        with _get(address, headers, stays) as response:
            if response.status_code in (403, 404, 410):  # some servers answer 403 for missing files
                raise MissingFileError(f"answers {response.status_code} {response.reason}")
            if response.status_code == 416:  # no bytes after ours: another file, or the whole file
                part.unlink()
                return "answers 416 (range not satisfiable)"
            if response.status_code >= 500:
                return f"answers {response.status_code} {response.reason}"
            if response.status_code not in (200, 206):
                raise UserError(f"{without_credentials(address)}: answers {response.status_code} {response.reason}")
            if response.headers.get("Content-Type", "").startswith("text/html"):
                raise MissingFileError("answers with a web page (HTML), not with the file")
            resumed = had if response.status_code == 206 else 0
            if response.status_code == 206 and _first_byte(response) != had:
                return f"answers with other bytes than those from {had:,} on"
            return _append(response, part, resumed, address, most)
    except (requests.RequestException, ValueError) as error:  # ValueError: malformed address or length
        return f"no connection ({type(error).__name__})"


def _get(address: str, headers: dict[str, str], stays: bool) -> requests.Response:
    """Return the answer of a server, or of the one that it sends us to.

    Raises:
        UserError: where ``stays`` holds, and it sends us to another one, or on and on.
    """
    for _ in range(MOST_REDIRECTS):
        response = requests.get(address, headers=headers, stream=True, timeout=TIMEOUT, allow_redirects=not stays)
        if not response.is_redirect:
            return response
        response.close()
        there = urljoin(address, response.headers["Location"])
        if _server(there) != _server(address):
            raise UserError(f"{without_credentials(address)}: sends us to {without_credentials(there)}, another server")
        address = there
    raise UserError(f"{without_credentials(address)}: sends us on more than {MOST_REDIRECTS} times")


def _server(address: str) -> tuple[str, str | None, int | None]:
    said = urlsplit(address)
    return said.scheme, said.hostname, said.port


def _first_byte(response: requests.Response) -> int | None:
    """Return the place of the first byte of a partial answer; None where it does not say."""
    found = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _append(response: requests.Response, part: Path, resumed: int, address: str, most: int) -> str | None:
    length = response.headers.get("Content-Length")
    total = resumed + int(length) if length else None
    broken = False
    with _opened(part, resumed) as file, Progress(address.rpartition("/")[2], total, "B") as progress:
        progress.advance(resumed)
        try:
            for block in response.raw.stream(BLOCK, decode_content=False):
                file.write(block)
                progress.advance(len(block))
                if file.tell() > most:
                    return f"sends more than {most:,} bytes"
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            broken = True
        has = file.tell()
    if broken or (total is not None and has != total):
        return f"stopped after {has:,}{'' if total is None else f' of {total:,}'} bytes"
    return None


@contextmanager
def _opened(part: Path, resumed: int) -> Iterator[Any]:
    with naming(part), part.open("r+b" if resumed else "wb") as file:
        file.seek(resumed)
        yield file
