"""Label the settings of runs as one would type them."""

from collections.abc import Mapping, Sequence
from typing import Any

from lnexp.results.tables.differing import CORPUS, is_of_the_file, names_file_of
from lnexp.runs.identity import short_name

#: What a label says first: the files of groups, the corpus, the rate and the warm-up.
FIRST = (
    *map(names_file_of, ("model", "norm", "optimizer", "lr_schedule")), CORPUS, "lr_max", "warmup_updates",
)  # fmt: skip


def labels_of(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the settings of each run as one would type them, the files of groups by their names.

    What follows from such a file, and what is not set, is left out where that makes no two settings one.
    """
    whole = [_label(one) for one in settings]
    said = [{key: value for key, value in one.items() if not _goes_without_saying(key, one)} for one in settings]
    short = list(map(_label, said))
    return short if len(set(short)) == len(set(whole)) else whole


def _goes_without_saying(key: str, settings: Mapping[str, Any]) -> bool:
    return settings[key] is None or is_of_the_file(key, settings[key], settings)


def _label(settings: Mapping[str, Any]) -> str:
    order = sorted(settings, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    return " ".join(as_typed(key, settings[key]) for key in order) or "all runs"


def as_typed(key: str, value: Any) -> str:
    """Return an option as one would type it: ``norm=rms_norm``, ``lr_max=0.002``."""
    group = key.partition(".")[0]
    return f"{group if key == names_file_of(group) else key}={short_name(_text(value))}"


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
