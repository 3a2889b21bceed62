"""The two sides of parallel text: where they lie, how many lines they have, what they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lnexp.corpora.archives import Place
from lnexp.corpora.context import Progress, Workshop
from lnexp.corpora.markup import FORMS
from lnexp.errors import UserError, near_names


class Side(NamedTuple):
    """One side of parallel text: where it lies, and how sentences stand there (``markup.py``)."""

    place: Place
    form: str

    def lines(self) -> Iterator[bytes]:
        return FORMS[self.form](self.place.lines())


Sides = tuple[Side, Side]


def sides_of(file: dict[str, str], root: str | None, fetched: dict[str, Path]) -> Sides:
    """The sides that a ``{source, target, form}`` of a config means.

    Raises:
        UserError: for an unknown form, or a file that is neither a download nor below ``root``.
    """
    form = file.get("form", "lines")
    if form not in FORMS:
        raise UserError(f"form {form}: unknown; {near_names(form, FORMS)}")
    return Side(_place_of(file["source"], root, fetched), form), Side(_place_of(file["target"], root, fetched), form)


def _place_of(address: str, root: str | None, fetched: dict[str, Path]) -> Place:
    """Where ``download!member``, or a path below ``root``, is to be read."""
    download, _, member = address.partition("!")
    if download in fetched:
        return Place(fetched[download], member or None)
    if root is None:
        raise UserError(f"{address}: neither among the downloads nor below a folder of yours")
    return Place(Path(root), address) if Path(root).is_file() else Place(Path(root) / address)


def _count_lines(side: Side) -> int:
    return sum(1 for _ in side.lines())


def count_pairs(files: list[Sides], workshop: Workshop) -> dict[Sides, int]:
    """How many pairs there are, counted before any work is done on files that are cut short or not parallel.

    Raises:
        UserError: for sides that differ in their number of lines, or have none.
    """
    flat = [side for sides in files for side in sides]
    counts = {}
    with Progress("count", len(flat), "files") as progress:
        for side, count in zip(flat, workshop.map(_count_lines, flat), strict=True):
            counts[side] = count
            progress.advance(1)
    for source, target in files:
        if empty := [side for side in (source, target) if not counts[side]]:
            raise UserError(f"{empty[0].place}: empty")
        if counts[source] != counts[target]:
            raise UserError(
                f"{source.place} has {counts[source]:,} lines, {target.place} has {counts[target]:,}: "
                "they must be parallel"
            )
    return {sides: counts[sides[0]] for sides in files}
