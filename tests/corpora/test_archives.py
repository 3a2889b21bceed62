"""Lines are read from files and archives in full, or an error names the file."""

import bz2
import gzip
import io
import lzma
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.corpora.archives import TextLocation
from lnexp.errors import UserError

LINES = [f"Zeile {number}, ein wenig länger als nötig".encode() for number in range(300)]
TEXT = b"".join(line + b"\n" for line in LINES)


def tar(members: dict[str, bytes], *others: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in others:
            archive.addfile(info)
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_lines_are_read_however_they_are_packed(tmp_path, compress):
    (tmp_path / "text").write_bytes(compress(TEXT))
    (tmp_path / "archive").write_bytes(compress(tar({"./deep/other": b"no", "./deep/text": TEXT})))
    assert list(TextLocation(tmp_path / "text").lines()) == LINES
    assert list(TextLocation(tmp_path / "archive", "text").lines()) == LINES
    assert list(TextLocation(tmp_path / "archive", "deep/text").lines()) == LINES


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([member("../evil")], r"points outside: '\.\./evil"),
        ([member("a/../../evil")], "points outside"),
        ([member("/etc/passwd")], "points outside: '/etc/passwd"),
        ([member("link", tarfile.SYMTYPE, "/etc/passwd")], "link or a device: 'link'"),
        ([member("link", tarfile.LNKTYPE, "text")], "link or a device: 'link'"),
        ([member("device", tarfile.CHRTYPE)], "link or a device"),
        ([member("other/text")], "has more than one text"),
    ],
)
def test_an_archive_made_to_do_harm_is_refused(tmp_path, others, message):
    path = tmp_path / "archive.tgz"
    path.write_bytes(gzip.compress(tar({"text": TEXT}, *others)))
    with pytest.raises(UserError, match=message) as caught:
        list(TextLocation(path, "text").lines())
    assert str(path) in str(caught.value)


def pax(name: str, **headers: str) -> tarfile.TarInfo:
    info = member(name)
    info.pax_headers = {key.replace("__", "."): value for key, value in headers.items()}
    return info


def stated(kind: bytes, size: int) -> bytes:
    """The header of a member, without the bytes that it says it has."""
    info = member("x", kind)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (pax("x", size="9" * 30).tobuf(tarfile.PAX_FORMAT), "states 9+"),
        (pax("x", size="-512").tobuf(tarfile.PAX_FORMAT), "states -512 bytes"),
        (pax("x", size=str(2**40)).tobuf(tarfile.PAX_FORMAT), "states 1,099,511,627,776 bytes"),
        (
            pax("x", GNU__sparse__major="1", GNU__sparse__minor="0").tobuf(tarfile.PAX_FORMAT),
            "a member is a sparse file",
        ),
        (
            pax("x", GNU__sparse__map="0,1", GNU__sparse__size="9").tobuf(tarfile.PAX_FORMAT),
            "a member is a sparse file",
        ),
        (pax("x", GNU__sparse__size=str(2**60)).tobuf(tarfile.PAX_FORMAT), "a member is a sparse file"),
        (stated(tarfile.GNUTYPE_SPARSE, 0), "a member is a sparse file"),
        (stated(tarfile.XHDTYPE, 2**60), "states 1,152,921,504,606,846,976 bytes"),
        (stated(tarfile.GNUTYPE_LONGNAME, 2**60), "states 1,152,921,504,606,846,976 bytes"),
        (stated(tarfile.REGTYPE, 2**60), "states 1,152,921,504,606,846,976 bytes"),
        (stated(tarfile.GNUTYPE_LONGNAME, 0) * 2000, "damaged"),
    ],
)
@pytest.mark.parametrize("of_text", [True, False])
def test_an_archive_that_states_absurd_sizes_is_refused_before_they_are_read(tmp_path, first, message, of_text):
    path = tmp_path / "archive.tgz"
    before = tar({"text": TEXT})[: 512 + -(-len(TEXT) // 512) * 512] if of_text else b""
    path.write_bytes(gzip.compress(before + first + bytes(1024)))
    with pytest.raises(UserError, match=message) as caught:
        list(TextLocation(path, "text").lines())
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path, pack, monkeypatch):
    monkeypatch.setattr("lnexp.corpora.archives.LONGEST_LINE", 1000)
    (tmp_path / "text").write_bytes(pack(b"a\n" * 300 + b"x" * 5000))
    (tmp_path / "archive").write_bytes(pack(tar({"text": b"a\n" + b"x" * 5000})))
    for place in (TextLocation(tmp_path / "text"), TextLocation(tmp_path / "archive", "text")):
        lines = place.lines()
        assert next(lines) == b"a"
        with pytest.raises(UserError, match="has a line of more than 1,000 bytes"):
            list(lines)


def test_what_is_not_there_is_named(tmp_path):
    (tmp_path / "archive").write_bytes(tar({"text": TEXT}))
    (tmp_path / "page.tgz").write_bytes(b"<!DOCTYPE html><html>Sorry</html>" * 50)
    for place, message in {
        TextLocation(tmp_path / "nowhere"): "nowhere: no such file",
        TextLocation(tmp_path / "nowhere", "text"): "nowhere: no such archive",
        TextLocation(tmp_path / "archive", "valid"): "archive: has no member valid",
        TextLocation(tmp_path / "page.tgz", "text"): "page.tgz: damaged, or not a tar archive",
    }.items():
        with pytest.raises(UserError, match=message):
            list(place.lines())


def test_an_archive_is_no_text(tmp_path):
    (tmp_path / "archive").write_bytes(tar({"text": TEXT}))
    with pytest.raises(UserError, match="archive: an archive of files, not a text"):
        list(TextLocation(tmp_path / "archive").lines())


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\rb\nc\n", b"x" * 300 + b"\n" + b"y" * 300, b"a\n" * 200])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_lines_end_at_line_feeds_alone(tmp_path, text, pack):
    (tmp_path / "text").write_bytes(pack(text))
    lines = text.split(b"\n")
    assert list(TextLocation(tmp_path / "text").lines()) == (lines if lines[-1] else lines[:-1])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_named(tmp_path, pack):
    packed = bytearray(pack(TEXT * 100))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "text").write_bytes(packed)
    with pytest.raises(UserError, match="text: damaged or truncated"):
        list(TextLocation(tmp_path / "text").lines())


ARCHIVE = gzip.compress(tar({"first": TEXT, "text": TEXT, "last": TEXT}), mtime=0)


@settings(max_examples=60)
@given(length=st.integers(0, len(ARCHIVE) - 1))
def test_an_archive_cut_short_never_passes_for_a_whole_one(tmp_path_factory, length):
    path = tmp_path_factory.mktemp("archive") / "archive.tgz"
    path.write_bytes(ARCHIVE[:length])
    with pytest.raises(UserError, match=r"archive\.tgz: damaged"):
        list(TextLocation(path, "text").lines())


@settings(max_examples=60)
@given(position=st.integers(10, len(ARCHIVE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found(tmp_path_factory, position, bit):
    broken = bytearray(ARCHIVE)
    broken[position] ^= 1 << bit
    path = tmp_path_factory.mktemp("archive") / "archive.tgz"
    path.write_bytes(broken)
    with pytest.raises(UserError):
        list(TextLocation(path, "text").lines())
