"""Look up options: by name or alias, and those that concern arms, probes, arrays or published results."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.checks import check_group, check_inert
from lnexp.errors import UserError
from lnexp.options import common, fairseq
from lnexp.options.option import NONE, Alias, Option
from lnexp.plain import ABSENT, find

#: Parts of a config that every command takes for groups.
GROUPS = (
    "model", "optimizer", "lr_schedule", "norm", "data", "evaluation", "fairseq", "tracker", "checkpoints", "probes",
    "diagnostics", "intervention",
)  # fmt: skip
#: Those whose texts fairseq may evaluate.
EVALUATED = (
    "model", "optimizer", "lr_schedule",
    *(f"fairseq.{group}" for group in ("model", "optimizer", "lr_scheduler", "criterion", "bmuf")),
)  # fmt: skip

OURS = tuple(option for section in common.SECTIONS.values() for option in section)


class Table:
    """The options that every run has, those of its task, and what is known of fairseq's.

    Attributes:
        of_task: the rows that the task adds.
        ours: the rows that people read about, in their order.
        rows: all of them.
    """

    def __init__(self, task_options: Sequence[Option] = ()):
        self.of_task = tuple(task_options)
        own = [option for option in self.of_task if not option.name.startswith("fairseq.")]
        self.ours = (*OURS, *own)
        of_fairseq = [option for option in self.of_task if option not in own]
        self.rows = (*self.ours, *of_fairseq, *common.CLASSES, *common.LABELS, *common.LOCATIONS, *fairseq.ROWS)

    def check(self, settings: dict[str, Any], missing: Any = ABSENT) -> None:
        """Refuse values that options cannot have, groups that are none, and text that fairseq would run as code.

        Args:
            settings: the plain values of a config, or of a part of one.
            missing: stands for a value that is not set yet.

        Raises:
            UserError: one line that names the option, its value and what it must be.
        """
        for name in (*GROUPS, *(f"fairseq.{group}" for group in settings.get("fairseq") or {})):
            if (group := find(settings, name, ABSENT)) is not ABSENT:
                check_group(name, group)
        for name in EVALUATED:
            check_inert(name, find(settings, name))
        for option in self.rows:
            if (value := find(settings, option.name, ABSENT)) is not ABSENT and value != missing:
                option.kind.check(option.name, value)

    def places(self, chosen: Callable[[Option], bool]) -> list[str]:
        """Return every dotted name, aliases included, at which the value of a chosen option stands."""
        return [place for option in self.rows if chosen(option) for place in self.places_of(option)]

    def places_of(self, option: Option) -> Iterator[str]:
        """Yield every dotted name, aliases included, at which an option's value stands."""
        for name in (option.name, *(alias.name for alias in option.aliases)):
            yield from self._as_in_fairseq(name)

    def values_of(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield every dotted name at which an option's value stands, with what stands there for this value.

        Args:
            name: of the option, which may be one without a row in a group.
            value: its value.
        """
        aliases = [alias for option in self.rows if option.name == name for alias in option.aliases]
        for other, there in ((name, value), *((alias.name, alias.there(value)) for alias in aliases)):
            yield from ((place, there) for place in self._as_in_fairseq(other))

    def _as_in_fairseq(self, name: str) -> Iterator[str]:
        """Yield a dotted name, and where fairseq's config has the same."""
        yield name
        for there, group in self._groups.items():
            if name.startswith(f"{group}."):
                yield there + name.removeprefix(group)

    def decides(self, name: str) -> bool:
        """Return whether an option, or one without a row in a group that does, decides what a run measures."""
        return all(row.decides for row in self.rows_of(name)) and self.takes(name)

    def keeps_arms(self, name: str) -> bool:
        """Return whether a recipe's arms stay what the recipe states where a command line sets this option."""
        row = next(self.rows_of(name), None)
        return bool(row and (row.keeps_arms if row.keeps_arms is not None else not row.decides))

    def locates(self, name: str) -> bool:
        """Return whether an option says where files are."""
        return any(row.locates for row in self.rows_of(name))

    def probe_part(self, name: str) -> str | None:
        """Return what an option sets of a probe, see :class:`Option`; None for an option that sets nothing there."""
        return next((row.probe for row in self.rows_of(name) if row.probe), None)

    def rows_of(self, name: str) -> Iterator[Option]:
        """Yield the row of an option and those of the groups that it stands in, from the inside out."""
        rows = {option.name: option for option in self.rows}
        while name:
            if name in rows:
                yield rows[name]
            name = name.rpartition(".")[0]

    def takes(self, name: str) -> bool:
        """Return whether an option has a row, or stands in a group that has one."""
        return any(True for _ in self.rows_of(name))

    def array_values(self) -> dict[str, Any]:
        """Return the only values that an array knows, by fairseq's names of the options."""
        return {
            place.removeprefix("fairseq."): option.array_value
            for option in self.rows
            if option.array_value is not NONE
            for place in self.places_of(option)
            if place.startswith("fairseq.")
        }

    def records_every_epoch(self, cfg: DictConfig) -> bool:
        """Return whether a run with this config has a record of every epoch that it trains."""
        skipping = (option for option in self.rows if option.skips_epochs)
        return all(OmegaConf.select(cfg, row.name, default=row.array_value) == row.array_value for row in skipping)

    def published(self) -> tuple[str, ...]:
        """Return the names of the options that ``provenance.json`` says, in its order."""
        return tuple(option.name for option in self.rows if option.published)

    def has(self, name: str) -> bool:
        """Return whether an option of ours has this name."""
        return name in self._names

    def in_our_words(self, name: str, text: str | None) -> tuple[str, str | None]:
        """Return an override's name and text with an alias replaced by the option's own name.

        Args:
            name: the dotted name on the left of an override.
            text: what is on its right; None in an override that deletes.

        Raises:
            UserError: where the option's value cannot be told from the text.
        """
        if name in self._aliases:
            option, alias = self._aliases[name]
            if text is None or option.is_group:
                raise UserError(f"{name}: is {option.name} by another name; say {_example(option)}")
            try:
                return option.name, alias.back(text)
            except ValueError:
                raise UserError(f"{name}={text}: is {option.name} by another name; say {_example(option)}") from None
        ours = self.in_our_group(name)
        return (name, text) if ours == name else self.in_our_words(ours, text)

    def in_our_group(self, name: str) -> str:
        """Return the name that an option of one of fairseq's groups has in ours, as ``model.x`` of
        ``fairseq.model.x``; any other stays as it is.
        """
        for there, group in self._groups.items():
            if name.startswith(f"{there}."):
                return group + name.removeprefix(there)
        return name

    @cached_property
    def _names(self) -> set[str]:
        return {option.name for option in self.ours}

    @cached_property
    def _aliases(self) -> dict[str, tuple[Option, Alias]]:
        return {alias.name: (option, alias) for option in self.rows for alias in option.aliases}

    @cached_property
    def _groups(self) -> dict[str, str]:
        """The names of our groups by fairseq's."""
        return {alias.name: option.name for option in OURS if option.is_group for alias in option.aliases}


def _example(option: Option) -> str:
    return f"{option.name}=NAME or {option.name}.OPTION=VALUE" if option.is_group else f"{option.name}=…"
