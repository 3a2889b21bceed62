"""Spell out the overrides of a command line as Hydra wants them, and refuse those that it would misread."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString

from lnexp.errors import UserError, near_names
from lnexp.options import Table, key_of
from lnexp.options.override import values_said
from lnexp.paths import CONFIG_DIR
from lnexp.tasks import DEFAULT, table_of_task, task_names


def spell_out(overrides: Sequence[str]) -> list[str]:
    """Return overrides as Hydra wants them, each option under its own name.

    ``fairseq.common.log_interval=7`` becomes ``++fairseq.common.log_interval=7``, for only fairseq itself knows which
    options it has; ``fairseq.common.fp16=true``, which is one of ours by another name, becomes ``precision=fp16``;
    ``arms=a,b``, which is no sweep, becomes ``arms=[a,b]``.

    Raises:
        UserError: for two files of one group, and for an alias whose text does not say what the option's value is.
    """
    tasks = values_said(overrides, "task")
    table = table_of_task(tasks[-1] if tasks and tasks[-1] in task_names() else DEFAULT)
    return [_spell_out(override, table) for override in overrides]


#: An override of a value: how it is set, its name, and the text.
VALUE_OVERRIDE = re.compile(r"(~|\+{0,2})([\w.]+)(?:=(.*))?", re.DOTALL)


def _spell_out(override: str, table: Table) -> str:
    _refuse_mixture(override)
    _refuse_no_file(override)
    parts = VALUE_OVERRIDE.fullmatch(override)
    if not parts:
        return override
    how, said, text = parts.groups()
    name, value = table.in_our_words(said, text)
    if said.startswith("fairseq.") or name != said:
        how = how if how == "~" else "" if table.has(name) else "++"
    _refuse_unknown(how, name, table)
    if value and (table.locates(name) or name == "recipe"):
        value = _quoted(value)
    if name == "arms" and value not in (None, "", "null") and not value.startswith("["):
        value = f"[{value}]"
    return f"{how}{name}" if value is None else f"{how}{name}={value}"


#: What the grammar of overrides does not take unquoted: signs of its own, and letters beyond ASCII.
TO_BE_QUOTED = re.compile(r"[#&!;<>|^`]|[^\x20-\x7e]")
#: What is no name of a file where Hydra reads it.
NO_FILE = re.compile(r"null|true|false|[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)


def _quoted(paths: str) -> str:
    """Return paths, between commas, each in quotes that the grammar would not take otherwise."""
    if "'" in paths or '"' in paths:
        return paths
    return ",".join(quote(path) if TO_BE_QUOTED.search(path) else path for path in paths.split(","))


def _refuse_no_file(override: str) -> None:
    """Refuse ``subword=null`` and ``model=3``, which name no file. Raises UserError."""
    group, _, said = override.lstrip("+").partition("=")
    if group and NO_FILE.fullmatch(said) and (CONFIG_DIR / group).is_dir():
        none = "; say none" if (CONFIG_DIR / group / "none.yaml").is_file() else ""
        raise UserError(f"{override}: must be the name of a file in configs/{group}{none}")


def _refuse_unknown(how: str, name: str, table: Table) -> None:
    """Refuse to add an option that nothing reads: one without a row in the table, and not of a group that is open.
    Raises UserError.
    """
    if how.startswith("+") and not any(one.takes(name) for one in (table, *map(table_of_task, task_names()))):
        raise UserError(f"{how}{name}: no such option; {near_names(name, [row.name for row in table.rows])}")


def from_folder(override: str, folder: Path, table: Table | None = None) -> str:
    """Return an override whose paths, those of recipes' files among them, are absolute: relative ones lie in a folder.

    Names of recipes and addresses stay, and so does any override that names no place.

    Args:
        override: the override.
        folder: where relative paths lie.
        table: of the task whose options say which name places; None: of the options that all tasks have.
    """
    key = key_of(override)
    is_recipe = key == "recipe"
    if "=" not in override or not (is_recipe or (table or Table()).locates(key)):
        return override
    values = values_of(OverridesParser.create().parse_override(override))
    return f"{override.partition('=')[0]}={','.join(_place(value, folder, is_recipe) for value in values)}"


def values_of(override: Override) -> list[str]:
    """Return the values of an override as texts without quotes: several of a sweep, else one."""
    values = override.sweep_iterator() if override.is_sweep_override() else [override.value()]
    return [value.text if isinstance(value, QuotedString) else str(value) for value in values]


def _place(text: str, folder: Path, is_recipe: bool) -> str:
    """Return a path as Hydra reads it, absolute; or the text, where it is no path."""
    if not text or text == "None" or "://" in text or (is_recipe and not text.endswith((".yaml", ".yml"))):
        return "null" if text == "None" else text
    return quote(str(folder / os.path.expanduser(text)))


def quote(text: str) -> str:
    """Return a text as Hydra's grammar quotes it: backslashes are doubled before a quote and at the end alone."""
    return "'" + re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text) + "'"


#: Why one file of a group is taken, and not two.
MIXTURES = {
    "model": "a placement is the whole of how a block is joined, and a mixture of two is a class of its own, see "
    "docs/extending.md"
}


def _refuse_mixture(override: str) -> None:
    """Refuse ``model=[admin,rezero]``, of which Hydra would silently take what the last file sets. Raises UserError."""
    group, _, files = override.lstrip("+").partition("=")
    if group and files.startswith("[") and (CONFIG_DIR / group).is_dir():
        raise UserError(
            f"{override}: must be one; {MIXTURES.get(group, 'for a sweep say -m and leave out the brackets')}"
        )
