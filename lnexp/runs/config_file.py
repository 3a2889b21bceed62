"""Read a run's ``config.yaml``: plain values of the kinds that its options take."""

from typing import Any

from lnexp.errors import UserError
from lnexp.plain import find
from lnexp.plain_yaml import load_yaml
from lnexp.schema import plain_content
from lnexp.tasks import table_of

#: libyaml crashes where values are nested some twenty thousand times; a config has about four thousand characters.
LONGEST = 20_000
#: Groups that every command takes for such.
GROUPS = (
    "model",
    "optimizer",
    "lr_schedule",
    "norm",
    "data",
    "evaluation",
    "fairseq",
    "tracker",
    "checkpoints",
    "probes",
)
ABSENT = object()


def parse_config(text: str) -> Any:
    """Return the content of a ``config.yaml``.

    Raises:
        ValueError, yaml.YAMLError: where it is no config; where an option has a value that it cannot take.
    """
    if len(text) > LONGEST:
        raise ValueError(f"{len(text):,} characters are too many for a config")
    content = plain_content(load_yaml(text))
    if "${" in str(content):  # a config is written with its values; anything else was put there, and could read secrets
        raise ValueError("an interpolation, where values are written")
    if isinstance(content, dict):
        _check(content)
    return content


def _check(config: dict[str, Any]) -> None:
    """Raise ValueError for a value that an option cannot have, or a group that is none."""
    for name in GROUPS:
        if not isinstance(config.get(name, {}), dict):
            raise ValueError(f"{name}={config[name]}: must be a group of options")
    try:
        for option in table_of(config).rows:
            if (value := find(config, option.name, ABSENT)) is not ABSENT:
                option.kind.check(option.name, value)
    except UserError as error:
        raise ValueError(str(error)) from None
