"""Ways in which a file can be damaged, or made to do harm."""

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

#: A place within the content of a file: keys and positions, from the outside in.
Place = tuple[str | int, ...]
#: Stands in JSON and YAML where the text of a value is to be put in as it is.
MARK = "@@value@@"
ESCAPE = "\x1b[2J\x1b]0;owned\x07\r"

#: Values by name, as they are written in JSON; most are YAML, too.
VALUES = {
    "null": "null",
    "true": "true",
    "minus one": "-1",
    "zero": "0",
    "a half": "0.5",
    "more than 64 bits": str(2**70),
    "an integer beyond floats": "1" + "0" * 400,
    "an integer of 5000 digits": "9" * 5000,
    "1e400": "1e400",
    "Infinity": "Infinity",
    "NaN": "NaN",
    "empty text": '""',
    "text": '"x"',
    "a surrogate": r'"\ud800"',
    "control characters": json.dumps(ESCAPE),
    "a naive time": '"2024-01-01T00:00:00"',
    "no time": '"2024-13-01T99:00:00+00:00"',
    "a path outside": '"../../../outside"',
    "an absolute path": '"/outside/of/it"',
    "long text": json.dumps("x" * 100_000),
    "a list": "[]",
    "a list of lists": "[[1, [null]], {}]",
    "an object": "{}",
    "another object": '{"x": {"y": 1}}',
    "deep lists": "[" * 5000 + "]" * 5000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
}
#: In YAML alone.
YAML_VALUES = {
    "an alias": "&a [*a]",
    "a bomb of aliases": "[&a [x, x, x, x], &b [*a, *a, *a, *a], [*b, *b, *b, *b]]",
    "a tag of Python": "!!python/object/apply:os.system ['touch outside']",
    "a date": "2024-01-01",
    "infinity": ".inf",
    "no number": ".nan",
    "a resolver": '"${oc.env:HOME}"',
    "a resolver behind an escape": r'"\x24{oc.env:HOME}"',
    "a set": "!!set {x, y}",
    "bytes": "!!binary aGk=",
}
#: In cells of tables.
CELLS = {
    "empty": "",
    "text": "x",
    "minus one": "-1",
    "1e400": "1e400",
    "inf": "inf",
    "nan": "nan",
    "many digits": "9" * 400,
    "control characters": ESCAPE,
    "a formula": "=1+1",
    "an open quote": '"',
    "a nul": "\0",
    "long text": "x" * 100_000,
    "a line break": '"x\ny"',
}


def whole_files() -> dict[str, Callable[[Path], None]]:
    """Return what can be put in the place of a whole file; each function takes its path."""

    def content(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
        return lambda path: path.write_bytes(change(path.read_bytes())) and None

    def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
        def act(path: Path) -> None:
            path.unlink()
            make(path)

        return act

    def huge(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(2**40)  # takes no room on the disk

    return {
        "empty": content(lambda old: b""),
        "half of it": content(lambda old: old[: len(old) // 2]),
        "a byte too few": content(lambda old: old.rstrip()[:-1]),
        "zeros": content(lambda old: bytes(len(old))),
        "no UTF-8": content(lambda old: old[:20] + b"\xff\xfe\x80" + old[20:]),
        "a byte-order mark": content(lambda old: b"\xef\xbb\xbf" + old),
        "UTF-16": content(lambda old: b"\xff\xfe" + old[:2000].decode("utf-8", "replace").encode("utf-16-le")),
        "noise": content(lambda old: bytes((97 * place * place + 31) % 256 for place in range(500))),
        "twice": content(lambda old: old + old),
        "carriage returns": content(lambda old: old.replace(b"\n", b"\r\n")),
        "missing": replaced(lambda path: None),
        "a folder": replaced(Path.mkdir),
        "a pipe": replaced(os.mkfifo),
        "a link to nothing": replaced(lambda path: path.symlink_to(path.with_name("nothing"))),
        "a link to itself": replaced(lambda path: path.symlink_to(path)),
        "a link to an endless device": replaced(lambda path: path.symlink_to("/dev/zero")),
        "too long": huge,
        "an archive": replaced(_archive),
    }


def _archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", b"\x80\x02}q\x00.")
        archive.writestr("x/constants.pkl", b"\x80\x02).")


def places(content: Any, before: Place = ()) -> Iterator[Place]:
    """Yield every place of a value in the content of JSON or YAML, the whole of it first."""
    yield before
    if isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, (*before, key))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from places(value, (*before, number))


def without(content: Any, place: Place) -> Any:
    """Return content without the value at a place."""
    content, inner = _copied(content, place)
    del inner[place[-1]]
    return content


def with_value(content: Any, place: Place, value: Any) -> Any:
    """Return content with another value at a place."""
    if not place:
        return value
    content, inner = _copied(content, place)
    inner[place[-1]] = value
    return content


def _copied(content: Any, place: Place) -> tuple[Any, Any]:
    content = inner = json.loads(json.dumps(content))
    for key in place[:-1]:
        inner = inner[key]
    return content, inner


def in_json(content: Any, place: Place, value: str) -> str:
    """Return JSON with the text of a value at a place."""
    return json.dumps(with_value(content, place, MARK)).replace(json.dumps(MARK), value)


def in_lines(records: list[Any], place: Place, value: str) -> str:
    """Return lines of JSON with the text of a value at a place, whose first part is the number of the line."""
    changed = with_value(records, place, MARK)
    lines = [json.dumps(record).replace(json.dumps(MARK), value) for record in changed]
    return "".join(f"{line}\n" for line in lines)


def in_yaml(content: Any, place: Place, value: str) -> str:
    """Return YAML with the text of a value at a place."""
    return yaml.safe_dump(with_value(content, place, MARK), sort_keys=False, width=10**9).replace(f"'{MARK}'", value)


def in_csv(text: str, row: int, column: int, cell: str) -> str:
    """Return a table with another cell, whose text is put in as it is; row 0 is the head."""
    rows = list(csv.reader(io.StringIO(text)))
    rows[row][column] = MARK
    return _table(rows).replace(MARK, cell)


def without_column(text: str, column: int) -> str:
    """Return a table without a column."""
    return _table([[*row[:column], *row[column + 1 :]] for row in csv.reader(io.StringIO(text))])


def _table(rows: list[list[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


@dataclass(frozen=True)
class Damage:
    """A change of a file.

    Attributes:
        name: what kind of damage it is.
        place: where in the content; None for the whole file.
    """

    name: str
    place: Place | None = None

    def apply(self, path: Path) -> None:
        """Damage a file, whose name says what form it has."""
        if self.place is None:
            whole_files()[self.name](path)
        else:
            path.write_text(_changed(path, self.name, self.place), encoding="utf-8")


def damages_of(path: Path) -> list[Damage]:
    """Return every damage of a file that this module knows."""
    form, content = _form_of(path), _content(path)
    within: list[Damage] = []
    if form == "csv":
        rows = len(content)
        within += [Damage("a missing column", (0, column)) for column in range(len(content[0]))]
        within += [
            Damage(name, (row, column))
            for name in CELLS
            for row in {0, 1, rows - 1}
            for column in range(len(content[0]))
        ]
    elif form:
        values = [*VALUES, *(YAML_VALUES if form == "yaml" else ())]
        every = [place for place in places(content) if place or form != "lines"]
        within += [Damage(MISSING, place) for place in every if place]
        within += [Damage(name, place) for name in values for place in every]
    return [*map(Damage, whole_files()), *within]


MISSING = "a missing value"
FORMS = {".json": "json", ".jsonl": "lines", ".yaml": "yaml", ".csv": "csv"}


def _form_of(path: Path) -> str:
    return FORMS.get(path.suffix, "")


def _content(path: Path) -> Any:
    match _form_of(path):
        case "json":
            return json.loads(path.read_text(encoding="utf-8"))
        case "lines":
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        case "yaml":
            return yaml.safe_load(path.read_text(encoding="utf-8"))
        case "csv":
            return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    return None


def _changed(path: Path, name: str, place: Place) -> str:
    content, form = _content(path), _form_of(path)
    if form == "csv":
        text, (row, column) = path.read_text(encoding="utf-8"), place
        return without_column(text, column) if name == "a missing column" else in_csv(text, row, column, CELLS[name])
    if name == MISSING:
        changed = without(content, place)
        if form == "lines":
            return "".join(f"{json.dumps(record)}\n" for record in changed)
        return json.dumps(changed) if form == "json" else yaml.safe_dump(changed, sort_keys=False)
    put = {"json": in_json, "lines": in_lines, "yaml": in_yaml}[form]
    return put(content, place, (VALUES | YAML_VALUES)[name])
