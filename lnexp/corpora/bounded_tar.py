"""Read the headers of tar archives within bounds: Python's own reader believes whatever size they state."""

import tarfile
from typing import Any

#: No header that names a long path is longer; no member of a corpus is larger.
MOST_HEADER = 2**16
MOST_MEMBER = 2**37
EXTENDED = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip


class RefusedMemberError(tarfile.TarError):
    """A member that would be read without end."""


class BoundedTarInfo(tarfile.TarInfo):
    """A member of an archive, in a header of at most :data:`MOST_HEADER` bytes; sparse members are refused.

    Where a header says so, Python's reader looks for that many bytes beyond the end of the file, or takes memory for
    the holes of a sparse member. These methods are its own, of Python 3.11 and 3.12.
    """

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            self._refuse_sparse()
        if not 0 <= self.size <= (MOST_HEADER if self.type in EXTENDED else MOST_MEMBER):
            raise RefusedMemberError(f"a header of {self.name!r} states {self.size:,} bytes")
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found

    def _refuse_sparse(self, *_: Any) -> None:
        raise RefusedMemberError("a member is a sparse file")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse

    def _apply_pax_info(self, headers: dict[str, str], encoding: str, errors: str) -> None:
        super()._apply_pax_info(headers, encoding, errors)  # type: ignore[misc]
        if not 0 <= self.size <= MOST_MEMBER:
            raise RefusedMemberError(f"a header of {self.name!r} states {self.size:,} bytes")
