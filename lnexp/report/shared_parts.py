"""Keep once what runs of the table have in common, which makes the page a tenth smaller."""

import json
from collections.abc import Mapping
from typing import Any

#: Settings that each run has of its own.
SEEDS = ("seed", "order_seed")


def with_parts_shared(runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of runs with their settings and commands apart; the page's script puts them together again.

    A row has ``seeds``, and as ``shared`` the number of the rest: its other settings, and its command in two parts,
    before and after the seed. A row without settings, as of a folder that cannot be read, is left as it is.

    Args:
        runs: a :class:`lnexp.report.run_rows.Runs` as plain data.
    """
    numbers: dict[str, int] = {}
    return {**runs, "rows": [_apart(row, numbers) for row in runs["rows"]], "shared": list(map(json.loads, numbers))}


def _apart(row: Mapping[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    settings, command = row.get("settings"), row.get("command")
    if not isinstance(settings, dict) or not isinstance(command, str | None):
        return dict(row)
    seeds = {name: settings[name] for name in SEEDS if name in settings}
    rest = {name: value for name, value in settings.items() if name not in seeds}
    parts = None if command is None else command.split(f" seed={seeds.get('seed')} ", 1)
    number = numbers.setdefault(json.dumps({"settings": rest, "command": parts}), len(numbers))
    own = {name: value for name, value in row.items() if name not in ("settings", "command")}
    return {**own, "seeds": seeds, "shared": number}
