"""Locate the two files of parallel text, and check that they have equally many lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lnexp.corpora.archives import TextLocation
from lnexp.corpora.context import PreparationContext, Progress
from lnexp.corpora.markup import FORMS
from lnexp.errors import UserError, near_names


class TextFile(NamedTuple):
    """A text in one language.

    Attributes:
        location: of the text.
        form: its markup, a key of :data:`lnexp.corpora.markup.FORMS`.
    """

    location: TextLocation
    form: str

    def lines(self) -> Iterator[bytes]:
        """Yield the sentences."""
        return FORMS[self.form](self.location.lines())


#: The source and the target text.
FilePair = tuple[TextFile, TextFile]


def file_pair(file: dict[str, str], root: str | None, fetched: dict[str, Path]) -> FilePair:
    """Return the two files of a config's ``{source, target, form}``.

    Args:
        file: the config.
        root: the user's folder or archive, if any.
        fetched: the downloaded files, by their path in the config.

    Raises:
        UserError: for an unknown form, or a file that is neither a download nor below ``root``.
    """
    form = file.get("form", "lines")
    if form not in FORMS:
        raise UserError(f"form {form}: unknown; {near_names(form, FORMS)}")
    source, target = (TextFile(_locate(file[side], root, fetched), form) for side in ("source", "target"))
    return source, target


def _locate(address: str, root: str | None, fetched: dict[str, Path]) -> TextLocation:
    """Return the location of ``download!member`` or of a path below ``root``."""
    download, _, member = address.partition("!")
    if download in fetched:
        return TextLocation(fetched[download], member or None)
    if root is None:
        raise UserError(f"{address}: neither a download nor below data.path")
    return TextLocation(Path(root), address) if Path(root).is_file() else TextLocation(Path(root) / address)


def _count_lines(file: TextFile) -> int:
    return sum(1 for _ in file.lines())


def count_pairs(pairs: list[FilePair], context: PreparationContext) -> dict[FilePair, int]:
    """Return the number of sentence pairs of each pair of files, before any other work on them.

    Raises:
        UserError: for files of a pair that are empty or have different numbers of lines.
    """
    files = [file for pair in pairs for file in pair]
    counts = {}
    with Progress("count", len(files), "files") as progress:
        for file, count in zip(files, context.map(_count_lines, files), strict=True):
            counts[file] = count
            progress.advance(1)
    for source, target in pairs:
        if empty := [file for file in (source, target) if not counts[file]]:
            raise UserError(f"{empty[0].location}: empty")
        if counts[source] != counts[target]:
            raise UserError(
                f"{source.location} has {counts[source]:,} lines, {target.location} has {counts[target]:,}: "
                "they must be parallel"
            )
    return {pair: counts[pair[0]] for pair in pairs}
