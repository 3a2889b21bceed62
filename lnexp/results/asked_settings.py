"""Find the settings that overrides state, so that published ones can be held against them.

No config is composed for it, which takes a tenth of a second for every choice of files: only what they name counts.
"""

from functools import lru_cache
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.composer import is_a_group
from lnexp.configuration import compose
from lnexp.options.common import LABELS
from lnexp.overrides import spell_out
from lnexp.plain import plain
from lnexp.recipes.refused import refuse_resolvers

#: What names a run and sets nothing.
NAMES = {label.name for label in LABELS}


@lru_cache(maxsize=1024)
def asked_settings(overrides: tuple[str, ...], profile: str) -> dict[str, Any]:
    """Return what overrides set, by dotted name; the file chosen for a group is its ``_name``, as ``model._name``.

    What they take from other options, as ``${scale.lr_max.low}``, is as the profile has it, or another override.

    Raises:
        ValueError: for what is no override of one value, or takes something other than an option.
    """
    refuse_resolvers(overrides)
    try:
        parsed = OverridesParser.create().parse_overrides(spell_out(overrides))
        return _values([override for override in parsed if override.key_or_group not in NAMES], profile)
    except (HydraException, OmegaConfBaseException) as error:
        raise ValueError(f"overrides: {error}") from error


def _values(overrides: list[Override], profile: str) -> dict[str, Any]:
    """Return what overrides set, less what they take from options of neither ``scale`` nor another override."""
    files = {f"{one.key_or_group}._name": one.value() for one in overrides if is_a_group(one)}
    stated = {one.key_or_group: one.value() for one in overrides if not is_a_group(one)}
    cfg = OmegaConf.create({"scale": _scale(profile)})
    for name, value in stated.items():
        OmegaConf.update(cfg, name, value, force_add=True)
    values = {name: OmegaConf.select(cfg, name, throw_on_resolution_failure=False) for name in stated}
    found = {name: plain(value) if OmegaConf.is_config(value) else value for name, value in values.items()}
    return files | {name: value for name, value in found.items() if value is not None or stated[name] is None}


@lru_cache(maxsize=8)
def _scale(profile: str) -> DictConfig:
    scale: DictConfig = compose([f"profile={profile}"]).scale
    return scale
