"""Describe a recipe's file for people, from the code that reads it."""

from lnexp.docstrings import attributes_of
from lnexp.recipes.claim import Claim
from lnexp.recipes.recipe import Arm, Recipe, Setting
from lnexp.recipes.sweep_settings import SweepSettings
from lnexp.recipes.variant import Variant
from lnexp.schema import required_fields

#: Parts of a file by the class that holds each, and the attributes that a file calls otherwise or does not have.
PARTS = {
    "the file": (Recipe, {"name": "", "file": ""}),
    "a profile": (Setting, {"overrides": "settings"}),
    "an arm": (Arm, {"name": "", "values": "", "keys": ""}),
    "sweep": (SweepSettings, {}),
    "a claim": (Claim, {}),
    "variant": (Variant, {}),
}


def schema() -> dict[str, dict[str, str]]:
    """Return what each key of a recipe's file says, and whether it is required, by the part of the file that has it."""
    return {part: _keys(*described) for part, described in PARTS.items()}


def _keys(described: type, other: dict[str, str]) -> dict[str, str]:
    needed = required_fields(described)
    keys = {
        other.get(name, name): f"{text} Required." if name in needed else text
        for name, text in attributes_of(described).items()
    }
    return {key: text for key, text in keys.items() if key}
