"""Read YAML that someone else may have written."""

import re
from typing import Any

import yaml

from lnexp.schema import DEEPEST, twice

#: The parser in C, where PyYAML was built with it, reads all recipes in a tenth of the time.
PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Text of more characters is no config and no recipe, and could be nested deep by indentation alone.
LONGEST = 2**21
#: What can begin another level on the same line; text with few of it is not nested deep.
OPENING = re.compile(r"[\[{]|[-?][ \t]+[-?][ \t]")


class Loader(PARSER):
    """Loads plain values, and refuses a mapping that has a key twice, of which PyYAML takes the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):  # a tag may say so of another
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                raise yaml.YAMLError(twice(keys))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def load_yaml(text: str) -> Any:
    """Return the content of YAML without aliases (``*name``), some three hundred letters of which can fill a memory.

    Raises:
        yaml.YAMLError: where the text is malformed, has an alias, has a key twice, or is nested too deep, which ends
            libyaml.
    """
    if len(text) > LONGEST:
        raise yaml.YAMLError(f"{len(text):,} characters are too many")
    if sum(1 for _ in OPENING.finditer(text)) > DEEPEST:
        _check_depth(text)
    if "&" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=PARSER)):
        raise yaml.YAMLError("an alias (*name); write the value itself")
    return yaml.load(text, Loader=Loader)


def _check_depth(text: str) -> None:
    """Raise yaml.YAMLError where values are nested too deep; only the parser runs, which does not call itself."""
    depth = 0
    for event in yaml.parse(text, Loader=PARSER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise yaml.YAMLError("nested too deep")
