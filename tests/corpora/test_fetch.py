"""Downloads are complete and verified, or fail with one line."""

import contextlib
import functools
import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lnexp.corpora.context import PreparationContext
from lnexp.corpora.fetch import Download, fetch, mirror_of_the_environment, provenance
from lnexp.errors import UserError

CONTENT = gzip.compress(bytes(range(256)) * 4_000, compresslevel=0, mtime=0)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr("lnexp.corpora.fetch.PAUSE", 0)


class Server(BaseHTTPRequestHandler):
    """Serves ``CONTENT`` in ways that servers have."""

    def do_GET(self):
        self.server.requests.append((self.path, self.headers.get("Range")))
        way = self.path.split("/")[1]
        getattr(self, f"serve_{way}", self.serve_nothing)()

    def answer(self, status, content, announced=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content) if announced is None else announced))
        self.end_headers()
        self.wfile.write(content)

    def ranged(self, at_most=None):
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        rest = CONTENT[start:]
        span = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
        self.answer(206 if start else 200, rest[:at_most], len(rest), Content_Range=span)

    def serve_well(self):
        self.ranged()

    def serve_halves(self):
        self.ranged(at_most=len(CONTENT) // 3)

    def serve_stuck(self):
        self.ranged(at_most=0 if self.headers.get("Range") else 1_000)

    def serve_whole(self):  # knows no ranges, and says that the file is gzip on the wire
        broken = len(self.server.requests) == 1
        self.answer(200, CONTENT[:5_000] if broken else CONTENT, len(CONTENT), Content_Encoding="gzip")

    def serve_page(self):
        self.answer(200, b"<html>log in first</html>", Content_Type="text/html; charset=utf-8")

    def serve_wrong(self):
        self.answer(200, b"x" * len(CONTENT))

    def serve_trouble(self):
        self.answer(503, b"")

    def serve_forbidden(self):
        self.answer(403, b"no")

    def serve_forgetful(self):  # stops half-way, and then wants to begin anew
        if self.headers.get("Range"):
            self.answer(416, b"")
        else:
            self.ranged(at_most=1_000)

    def serve_lengthless(self):  # stops within a chunk
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"3e8\r\n" + CONTENT[:1_000] + b"\r\n3e8\r\n")
        self.close_connection = True

    def serve_endless(self):  # until the other side has enough
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            while True:
                self.wfile.write(bytes(1 << 16))

    def serve_shifted(self):  # the right length of the wrong bytes
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if not start:
            return self.ranged(at_most=1_000)
        rest = CONTENT[start - 10 : -10]
        return self.answer(206, rest, Content_Range=f"bytes {start - 10}-{len(CONTENT) - 11}/{len(CONTENT)}")

    def serve_elsewhere(self):
        self.answer(302, b"", Location=self.server.sends_to + self.path.replace("elsewhere", "well", 1))

    def serve_around(self):
        self.answer(302, b"", Location=self.path)

    def serve_nonsense(self):
        self.answer(200, b"", announced="many")

    def serve_nothing(self):
        self.answer(404, b"no")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        running.requests = []
        running.address = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()


def download(server, way, **facts):
    return Download("deep/file.gz", f"{server.address}/{way}/", "corpus", **facts)


KNOWN = {"bytes": len(CONTENT), "sha256": SHA256}


@pytest.mark.parametrize("way", ["well", "halves", "whole"])
@pytest.mark.parametrize("facts", [KNOWN, {"md5": MD5}, {}])
def test_a_file_lands_whole_whatever_the_server_does(server, tmp_path, way, facts):
    wanted = download(server, way, **facts)
    path = fetch(wanted, PreparationContext(tmp_path))
    assert path == tmp_path / "corpus/deep/file.gz"
    assert path.read_bytes() == CONTENT
    assert not list(path.parent.glob("*.part"))
    assert provenance(wanted, path) == {
        "address": f"{server.address}/{way}/deep/file.gz",
        "bytes": len(CONTENT),
        "sha256": SHA256,
        "checked_against": sorted(facts),
    }
    asked = len(server.requests)
    assert fetch(wanted, PreparationContext(tmp_path)) == path
    assert len(server.requests) == asked, "what is there is not asked for again"


@pytest.mark.parametrize(
    ("way", "facts", "message"),
    [
        ("nothing", KNOWN, r"nothing/deep/file\.gz: answers 404 Not Found; LNEXP_MIRROR names a mirror"),
        ("page", KNOWN, r"answers with a web page \(HTML\)"),
        ("page", {}, r"answers with a web page \(HTML\)"),
        ("wrong", KNOWN, rf"sha256 is [0-9a-f]+, not {SHA256}"),
        ("wrong", {"md5": MD5}, rf"md5 is [0-9a-f]+, not {MD5}"),
        ("well", {"bytes": 5}, r"sends more than 5 bytes"),
        ("endless", {"bytes": 5}, r"sends more than 5 bytes"),
        ("endless", {}, r"sends more than 3,000,000 bytes"),
        ("trouble", KNOWN, "answers 503"),
        ("forbidden", KNOWN, "answers 403"),
        ("nonsense", KNOWN, "no connection"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_lands(server, tmp_path, way, facts, message, monkeypatch):
    monkeypatch.setattr("lnexp.corpora.fetch.MOST_BYTES", 3_000_000)
    with pytest.raises(UserError, match=message):
        fetch(download(server, way, **facts), PreparationContext(tmp_path))
    assert list((tmp_path / "corpus/deep").iterdir()) == []


def test_a_download_that_stops_goes_on_with_the_next_call(server, tmp_path):
    with pytest.raises(UserError, match=r"stopped after 1,000 of [0-9,]+ bytes; 1,000 bytes are kept"):
        fetch(download(server, "stuck", **KNOWN), PreparationContext(tmp_path))
    del server.requests[:]
    fetch(download(server, "well", **KNOWN), PreparationContext(tmp_path))
    assert server.requests == [("/well/deep/file.gz", "bytes=1000-")]


def test_a_server_that_never_gets_further_is_given_up(server, tmp_path):
    with pytest.raises(UserError, match=r"answers 416|stopped after"):
        fetch(download(server, "forgetful", **KNOWN), PreparationContext(tmp_path))
    assert len(server.requests) < 10


def test_a_break_is_seen_without_a_length_and_what_came_is_kept(server, tmp_path):
    with pytest.raises(UserError, match=r"stopped after 1,000 bytes; 1,000 bytes are kept"):
        fetch(download(server, "lengthless"), PreparationContext(tmp_path))
    assert fetch(download(server, "well", **KNOWN), PreparationContext(tmp_path)).read_bytes() == CONTENT


@pytest.mark.parametrize("refusal", ["forbidden", "page", "nothing"])
def test_a_mirror_may_refuse_one_of_its_two_addresses(server, tmp_path, refusal):
    server.RequestHandlerClass.serve_either = lambda self: (
        getattr(self, f"serve_{refusal}")() if "/corpus/" in self.path else self.serve_well()
    )
    wanted = Download("deep/file.gz", "http://127.0.0.1:9", "corpus", **KNOWN)
    assert fetch(wanted, PreparationContext(tmp_path, f"{server.address}/either")).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", None),
        ("/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("~/b", str(Path.home() / "b")),
        ("HTTPS://x/y", "https://x/y"),
    ],
)
def test_what_a_mirror_can_be(monkeypatch, said, meant):
    monkeypatch.setenv("LNEXP_MIRROR", said)
    assert mirror_of_the_environment() == meant


def test_what_a_mirror_cannot_be(monkeypatch):
    monkeypatch.setenv("LNEXP_MIRROR", "ftp://x/y")
    with pytest.raises(UserError, match="LNEXP_MIRROR=ftp://x/y: must be http://…, https://… or a folder"):
        mirror_of_the_environment()


@pytest.mark.parametrize(
    ("path", "address", "corpus", "message"),
    [
        ("/etc/passwd", "https://x", "corpus", "downloads.files: /etc/passwd is not within"),
        ("a/../../b", "https://x", "corpus", "downloads.files: .* is not within"),
        ("file", "https://x", "/etc", "downloads.corpus: /etc is not within"),
        ("file", "https://x", "..", "downloads.corpus: .. is not within"),
        ("file", "file:///etc", "corpus", "base_url=file:///etc: must be http"),
    ],
)
def test_a_download_stays_in_its_folder(path, address, corpus, message):
    with pytest.raises(UserError, match=message):
        Download(path, address, corpus)


def test_bytes_of_another_place_are_not_appended(server, tmp_path):
    with pytest.raises(UserError, match=r"answers with other bytes than those from 1,000 on; 1,000 bytes are kept"):
        fetch(download(server, "shifted"), PreparationContext(tmp_path))
    assert (tmp_path / "corpus/deep/.file.gz.part").read_bytes() == CONTENT[:1_000]


def test_a_mirror_sends_us_to_no_other_server(server, tmp_path):
    wanted = Download("deep/file.gz", "http://127.0.0.1:9", "corpus", **KNOWN)
    server.sends_to = server.address
    assert fetch(wanted, PreparationContext(tmp_path / "a", f"{server.address}/elsewhere")).read_bytes() == CONTENT
    server.sends_to = server.address.replace("127.0.0.1", "localhost")
    with pytest.raises(UserError, match=r"sends us to http://localhost:\d+/well/.*, another server"):
        fetch(wanted, PreparationContext(tmp_path / "b", f"{server.address}/elsewhere"))
    assert fetch(download(server, "elsewhere", **KNOWN), PreparationContext(tmp_path / "c")).read_bytes() == CONTENT
    with pytest.raises(UserError, match="sends us on more than 10 times"):
        fetch(wanted, PreparationContext(tmp_path / "d", f"{server.address}/around"))


def test_a_password_is_in_no_message_and_no_config(server, tmp_path):
    with pytest.raises(UserError, match="without a name, a password or a query") as caught:
        Download("file", "https://me:secret@example.org/x", "corpus")
    assert "secret" not in str(caught.value)
    mirror = server.address.replace("http://", "http://me:secret@")
    for way in ("nothing", "trouble", "forgetful", "page", "around", "wrong"):
        with pytest.raises(UserError, match=server.address) as caught:
            fetch(download(server, "well", **KNOWN), PreparationContext(tmp_path / way, f"{mirror}/{way}"))
        assert "secret" not in str(caught.value)


def test_no_connection_is_said(tmp_path):
    nowhere = Download("file", "http://127.0.0.1:9", "corpus")
    with pytest.raises(UserError, match=r"http://127\.0\.0\.1:9/file: no connection"):
        fetch(nowhere, PreparationContext(tmp_path))


def test_a_file_that_changed_after_landing_is_fetched_again(server, tmp_path):
    wanted = download(server, "well")
    path = fetch(wanted, PreparationContext(tmp_path))
    path.write_bytes(b"x" * len(CONTENT))
    assert fetch(wanted, PreparationContext(tmp_path)).read_bytes() == CONTENT


def test_a_file_that_changed_is_kept_until_there_is_another(server, tmp_path):
    path = fetch(download(server, "well"), PreparationContext(tmp_path))
    path.write_bytes(b"mine")
    with pytest.raises(UserError):
        fetch(download(server, "nothing"), PreparationContext(tmp_path))
    assert path.read_bytes() == b"mine"


def test_a_file_that_somebody_put_there_is_taken_or_refused_and_never_deleted(server, tmp_path):
    wanted = download(server, "well", **KNOWN)
    path = tmp_path / wanted.corpus / wanted.path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine")
    with pytest.raises(UserError, match="it was not downloaded here: move it away"):
        fetch(wanted, PreparationContext(tmp_path))
    assert path.read_bytes() == b"mine"
    path.write_bytes(CONTENT)
    assert provenance(wanted, fetch(wanted, PreparationContext(tmp_path)))["sha256"] == SHA256
    path.write_bytes(b"mine again")
    with pytest.raises(UserError, match="it was not downloaded here"):
        fetch(wanted, PreparationContext(tmp_path))
    unstated = fetch(download(server, "well"), PreparationContext(tmp_path))
    assert unstated.read_bytes() == b"mine again", "where nothing is stated of it, any is taken"
    assert server.requests == []


@pytest.mark.parametrize("place", ["corpus/deep", "deep"])
def test_a_mirror_is_a_folder_or_an_address(server, tmp_path, place):
    mirror = tmp_path / "mirror"
    (mirror / place).mkdir(parents=True)
    (mirror / place / "file.gz").write_bytes(CONTENT)
    wanted = Download("deep/file.gz", "http://127.0.0.1:9", "corpus", **KNOWN)
    assert fetch(wanted, PreparationContext(tmp_path / "a", str(mirror))).read_bytes() == CONTENT
    assert fetch(wanted, PreparationContext(tmp_path / "b", f"{server.address}/well")).read_bytes() == CONTENT


def test_with_a_mirror_no_other_address_is_asked(server, tmp_path):
    with pytest.raises(
        UserError, match=r"nowhere/corpus/deep/file\.gz: no such file and .*nowhere/deep/file\.gz: no such file$"
    ):
        fetch(download(server, "well", **KNOWN), PreparationContext(tmp_path, str(tmp_path / "nowhere")))
    assert server.requests == []


def test_two_processes_that_want_one_file_fetch_it_once(server, tmp_path):
    wanted = download(server, "well", **KNOWN)
    threads = [
        threading.Thread(target=functools.partial(fetch, wanted, PreparationContext(tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1


def test_a_mirror_with_a_password_and_no_scheme_is_not_shown(monkeypatch):
    monkeypatch.setenv("LNEXP_MIRROR", "name:secret@server/x")
    with pytest.raises(UserError) as error:
        mirror_of_the_environment()
    assert "secret" not in str(error.value)
