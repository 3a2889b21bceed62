"""Describe one option: its values, its other names, and what depends on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lnexp.checks import Kind

#: Marks a missing value, because null is a valid value.
NONE: Any = object()


@dataclass(frozen=True)
class Alias:
    """Another place of a config that holds the value of an option.

    Attributes:
        name: the dotted name of the place.
        there: returns what stands there, given the option's value.
        back: converts the text of an override at this place into the text for the option. Raises ValueError where
            that is not possible.
    """

    name: str
    there: Callable[[Any], Any] = lambda value: value
    back: Callable[[str], str] = lambda text: text


def listed(name: str) -> Alias:
    """Return the alias of an option whose value stands in a list of one."""

    def back(text: str) -> str:
        inner = text.removeprefix("[").removesuffix("]")
        if not inner or set(inner) & set("[],"):
            raise ValueError(f"{text}: not a list of one")
        return inner

    return Alias(name, lambda value: [value], back)


def flag_of(name: str, value: str) -> Alias:
    """Return the alias of an option that is true where the option has this value."""

    def back(text: str) -> str:
        if text.lower() != "true":
            raise ValueError(f"{text}: does not say which value to take instead")
        return value

    return Alias(name, lambda now: now == value, back)


def or_zero(name: str) -> Alias:
    """Return the alias of an option that has 0 where the option is null."""
    return Alias(name, lambda value: value or 0, lambda text: "null" if text == "0" else text)


@dataclass(frozen=True)
class SameAs:
    """Stands for the value of the option of this name."""

    name: str


@dataclass(frozen=True)
class Option:
    """A row of the table.

    Attributes:
        name: the dotted name.
        kind: which values it takes.
        help: one line for people.
        aliases: other names of the same value.
        is_group: whether it is a part of the config, with options beneath it that need no row: those of a class that
            it names, or of fairseq.
        decides: whether it decides what a run measures, and so belongs to the run's identity.
        omitted_at: the value at which it is omitted from the identity, so that runs older than the option keep
            theirs. For an option that decides through fairseq's config alone, the value there.
        per_member: whether the members of one array may differ in it.
        array_value: the only value that an array of runs knows.
        skips_epochs: whether a run with another value may have epochs without a validation, and so without a record.
        published: whether ``provenance.json`` contains it for each run.
        keeps_arms: whether setting it on the command line leaves a recipe's arms unchanged; None: if it decides
            nothing.
        locates: whether it says where files are. Checksums in the config say what is in them, so the name of a prepared
            corpus and the identity of a run leave it out.
        probe: what it sets of a probe (``scripts/probe.py``): ``corpus``, ``runs``, ``seeds``, ``arms`` or
            ``minibatches``; None: what its group sets.
    """

    name: str
    kind: Kind
    help: str = ""
    aliases: Sequence[Alias] = ()
    is_group: bool = False
    decides: bool = True
    omitted_at: Any = NONE
    per_member: bool = False
    array_value: Any = NONE
    skips_epochs: bool = False
    published: bool = False
    keeps_arms: bool | None = None
    locates: bool = False
    probe: str | None = None
