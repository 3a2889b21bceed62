"""The table of options: what is known about each, stated once."""

from lnexp.options.option import NONE, Alias, Option, SameAs, flag_of, listed, or_zero
from lnexp.options.override import is_of_hydra, key_of
from lnexp.options.table import OURS, Table

__all__ = [
    "NONE",
    "OURS",
    "Alias",
    "Option",
    "SameAs",
    "Table",
    "flag_of",
    "is_of_hydra",
    "key_of",
    "listed",
    "or_zero",
]
