"""Find the options in which configs of runs differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omegaconf import OmegaConf

from lnexp.paths import CONFIG_DIR
from lnexp.runs.identity import short_name
from lnexp.tasks import table_of

#: What tells runs of one arm apart.
OF_A_RUN = ("seed", "order_seed")
#: What is no option that decides a number and tells arms apart all the same: the corpus' name, which stands for all of
#: its settings, and the version of the numerics.
CORPUS, NUMERICS = TELLING = ("data.name", "numerics")


def differing(configs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each config of runs, the options in which not all of them agree, seeds left out.

    An option that some configs do not have, as that of one placement, counts where those that have it disagree. One
    that differs because the files of its group do, as ``optimizer.betas`` with the optimizers, does not count.
    """
    flat = [_deciding(config) for config in configs]
    values: dict[str, set[str]] = {}
    for options in flat:
        for key, value in options.items():
            values.setdefault(key, set()).add(repr(value))
    keys = [key for key, found in values.items() if len(found) > 1]
    if CORPUS in keys:
        keys = [key for key in keys if key == CORPUS or not _is_of_the_corpus(key, flat)]
    own = [key for key in keys if not all(is_of_the_file(key, each[key], each) for each in flat if key in each)]
    return [{key: options[key] for key in own if key in options} for options in flat]


def _is_of_the_corpus(key: str, flat: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether an option of corpora differs only because they do."""
    values = {(options.get(CORPUS), repr(options.get(key))) for options in flat}
    return key.startswith("data.") and len(values) == len({corpus for corpus, _ in values})


def is_of_the_file(key: str, value: Any, options: Mapping[str, Any]) -> bool:
    """Return whether an option has the value that the file of its group states, as ``optimizer.betas`` of Adam."""
    group, _, name = key.partition(".")
    path = CONFIG_DIR / group / f"{short_name(str(options.get(names_file_of(group))))}.yaml"
    if key == names_file_of(group) or not path.is_file():
        return False
    stated: Any = OmegaConf.to_container(OmegaConf.load(path))
    return name in stated and stated[name] == value


def _deciding(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a config that decide its numbers, each once and by its own name."""
    table = table_of(config)
    aliases = set(table.places(lambda option: True)) - {option.name for option in table.rows}
    options = {
        key: value
        for key, value in _flattened(config)
        if (key in TELLING or table.decides(key)) and not (key in aliases or key in OF_A_RUN)
    }
    return {
        key: value for key, value in options.items() if (ours := table.in_our_group(key)) == key or ours not in options
    }


def _flattened(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the options of a config with their dotted names."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def names_file_of(group: str) -> str:
    """Return the option that names a group's file: ``_name``, and ``kind`` of norms, which fairseq does not know."""
    return f"{group}.{'kind' if group == 'norm' else '_name'}"
