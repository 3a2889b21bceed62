"""Tell what an option of ``scripts/probe.py`` sets, and refuse those that do not apply."""

from collections.abc import Sequence

from lnexp.errors import UserError
from lnexp.options import Table, key_of

TABLE = Table()


def part_of(option: str) -> str | None:
    """Return what an option sets of a probe, as the option table says: ``corpus``, …; None where it sets nothing."""
    return TABLE.probe_part(key_of(option))


def check_options(options: Sequence[str], parts: Sequence[str], why: str) -> None:
    """Refuse options that set another part of a probe than these.

    Raises:
        UserError: that gives the reason and the allowed options.
    """
    for option in options:
        if part_of(option) not in parts:
            allowed = ", ".join(f"{row.name}=…" for row in TABLE.rows if row.probe in parts)
            raise UserError(f"{option}: {why}; allowed are {allowed}")
