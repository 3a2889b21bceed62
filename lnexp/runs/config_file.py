"""Read a run's ``config.yaml``: plain values of the kinds that its options take."""

from typing import Any

from lnexp.errors import UserError
from lnexp.plain_yaml import load_yaml
from lnexp.schema import plain_content
from lnexp.tasks import table_of

#: libyaml crashes where values are nested some twenty thousand times; a config has about four thousand characters.
LONGEST = 20_000


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
        try:
            table_of(content).check(content)
        except UserError as error:
            raise ValueError(str(error)) from None
    return content
