"""Find the settings that overrides state, so that published ones can be held against them.

No config is composed for it, which takes a tenth of a second for every choice of files: only what they name counts.
"""

from functools import lru_cache
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.composer import is_a_group
from lnexp.configuration import compose
from lnexp.options import key_of
from lnexp.options.common import LABELS
from lnexp.overrides import spell_out
from lnexp.plain import ABSENT
from lnexp.recipes.refused import refuse_resolvers

#: What names a run and sets nothing.
NAMES = {label.name for label in LABELS}


@lru_cache(maxsize=4096)
def asked_settings(overrides: tuple[str, ...], profile: str) -> dict[str, Any]:
    """Return what overrides set, by dotted name; the file chosen for a group is its ``_name``, as ``model._name``.

    What they take from ``scale``, as ``${scale.lr_max.low}``, is as the profile or another override has it. What they
    take from elsewhere is left out, and so is ``scale`` itself.

    Raises:
        ValueError: for what is no override of one value, or takes something other than an option.
    """
    refuse_resolvers(overrides)
    try:
        spelled = spell_out(overrides)
        scale = tuple(override for override in spelled if key_of(override).startswith("scale."))
        parsed = (_parsed(override) for override in spelled if override not in scale)
        values = {name: _resolved(value, scale, profile) for name, value in parsed if name not in NAMES}
        return {name: value for name, value in values.items() if value is not ABSENT}
    except (HydraException, OmegaConfBaseException) as error:
        raise ValueError(f"overrides: {error}") from error


@lru_cache(maxsize=1024)
def _parsed(override: str) -> tuple[str, Any]:
    parsed = OverridesParser.create().parse_override(override)
    if parsed.is_sweep_override():
        raise ValueError(f"{override}: an override of one value is asked for")
    return f"{parsed.key_or_group}._name" if is_a_group(parsed) else parsed.key_or_group, parsed.value()


def _resolved(value: Any, scale: tuple[str, ...], profile: str) -> Any:
    return _from_scale(value, scale, profile) if isinstance(value, str) and "${" in value else value


@lru_cache(maxsize=1024)
def _from_scale(value: str, scale: tuple[str, ...], profile: str) -> Any:
    """Return what a reference stands for, where ``scale`` has it; :data:`ABSENT` where it does not."""
    cfg = OmegaConf.create({"scale": _scale(profile), "value": value})
    for name, other in map(_parsed, scale):
        OmegaConf.update(cfg, name, other, force_add=True)
    found = OmegaConf.select(cfg, "value", throw_on_resolution_failure=False)
    return ABSENT if found is None else found


@lru_cache(maxsize=8)
def _scale(profile: str) -> DictConfig:
    scale: DictConfig = compose([f"profile={profile}"]).scale
    return scale
