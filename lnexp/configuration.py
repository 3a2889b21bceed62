"""Compose configs, and refuse what cannot be meant before any work begins."""

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from hydra.core.config_store import ConfigLoadError, ConfigNode, ConfigStore
from omegaconf import DictConfig, OmegaConf

from lnexp.corpora.checksums import corpus_sha256, file_sha256
from lnexp.errors import UserError
from lnexp.options import Alias, Option, Table
from lnexp.paths import CONFIG_DIR
from lnexp.plain import drop, plain
from lnexp.tasks import DEFAULT, table_of, table_of_task, task_names


def register_resolvers() -> None:
    """Make ``${lnexp.…}`` known to OmegaConf."""
    OmegaConf.register_new_resolver("lnexp.equal", lambda a, b: a == b, replace=True)
    OmegaConf.register_new_resolver("lnexp.or_zero", lambda value: value or 0, replace=True)
    OmegaConf.register_new_resolver("lnexp.corpus_sha256", corpus_sha256, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.file_sha256", file_sha256, replace=True, use_cache=False)


def shared_settings(cfg: DictConfig) -> dict[str, Any]:
    """Return the resolved settings in which the members of one array agree."""
    settings = plain(cfg)
    for name in table_of(cfg).places(lambda option: option.per_member):
        drop(settings, name)
    return settings


def check(cfg: DictConfig) -> None:
    """Refuse values that cannot be meant, and options that have two values under two names.

    Raises:
        UserError: one line that names the option, its value and what it must be.
    """
    OmegaConf.missing_keys(cfg)  # raises where a setting is made of one that is missing
    for option in table_of(cfg).rows:
        value = OmegaConf.select(cfg, option.name, default=ABSENT)
        if value is not ABSENT:
            option.kind.check(option.name, value)
            for alias in option.aliases:
                _check_alias(cfg, alias, option, value)


def check_and_resolve(cfg: DictConfig) -> DictConfig:
    """Replace every interpolation of a config by its value, and return the config itself.

    Raises:
        UserError: where :func:`check` refuses it.
    """
    check(cfg)
    OmegaConf.resolve(cfg)
    return cfg


#: Stands for the value of an option that a config does not have.
ABSENT = object()


def _check_alias(cfg: DictConfig, alias: Alias, option: Option, value: Any) -> None:
    expected = alias.there(value)
    there = OmegaConf.select(cfg, alias.name, default=ABSENT)
    if there is not ABSENT and there is not expected and there != expected:
        raise UserError(f"{alias.name}={there}: is {option.name} by another name, which is {value}; set {option.name}")


def check_device(cfg: DictConfig) -> None:
    """Refuse what needs a GPU without one.

    Raises:
        UserError: where the config asks for CUDA, or for fp16, and there is no GPU.
    """
    if cfg.device != "cuda" and cfg.precision != "fp16":
        return
    import torch

    gpu = cfg.device != "cpu" and torch.cuda.is_available()
    if cfg.precision == "fp16" and not gpu:
        raise UserError("precision=fp16: needs a GPU, for its loss scale; take bf16 or fp32")
    if not gpu:
        raise UserError(
            f"profile={cfg.profile} needs a GPU and none is visible: take profile=small, or device=cpu, which is slow"
        )


def compose(overrides: Sequence[str]) -> DictConfig:
    """Return the config that ``scripts/train.py`` has with these command-line overrides."""
    return copy.deepcopy(_compose(tuple(overrides)))


@lru_cache(maxsize=32)  # a fifth of a second each; recipes have most choices of files in common
def _compose(overrides: tuple[str, ...]) -> DictConfig:
    import hydra

    register_resolvers()
    with own_schemas(), hydra.initialize_config_dir(str(CONFIG_DIR), version_base="1.3"):
        return hydra.compose("train", overrides=spell_out(overrides))


def spell_out(overrides: Sequence[str]) -> list[str]:
    """Return overrides as Hydra wants them, each option under its own name.

    ``fairseq.common.log_interval=7`` becomes ``++fairseq.common.log_interval=7``, for only fairseq itself knows which
    options it has; ``fairseq.common.fp16=true``, which is one of ours by another name, becomes ``precision=fp16``.

    Raises:
        UserError: for two files of one group, and for an alias whose text does not say what the option's value is.
    """
    tasks = [override.partition("=")[2] for override in overrides if override.startswith("task=")]
    table = table_of_task(tasks[-1] if tasks and tasks[-1] in task_names() else DEFAULT)
    return [_spell_out(override, table) for override in overrides]


#: An override of a value: how it is set, its name, and the text.
VALUE_OVERRIDE = re.compile(r"(~|\+{0,2})([\w.]+)(?:=(.*))?", re.DOTALL)


def _spell_out(override: str, table: Table) -> str:
    _refuse_mixture(override)
    parts = VALUE_OVERRIDE.fullmatch(override)
    if not parts:
        return override
    how, said, text = parts.groups()
    name, value = table.in_our_words(said, text)
    if said.startswith("fairseq.") or name != said:
        how = how if how == "~" else "" if table.has(name) else "++"
    return f"{how}{name}" if value is None else f"{how}{name}={value}"


#: Why one file of a group is taken, and not two.
MIXTURES = {
    "model": "a placement is the whole of how a block is joined, and a mixture of two is a class of its own, see "
    "docs/extending.md"
}


def _refuse_mixture(override: str) -> None:
    """Refuse ``model=[admin,rezero]``, of which Hydra would silently take what the last file sets. Raises UserError."""
    group, _, files = override.lstrip("+").partition("=")
    if group and files.startswith("[") and (CONFIG_DIR / group).is_dir():
        raise UserError(
            f"{override}: must be one; {MIXTURES.get(group, 'for a sweep say -m and leave out the brackets')}"
        )


@contextmanager
def own_schemas() -> Iterator[None]:
    """Hide from Hydra what others keep in its ConfigStore under the names of our files.

    Hydra validates a config file against a stored one of the same name, so once fairseq is imported our
    ``optimizer/adam`` would have to fit fairseq's. The store itself is left as it is. Launchers pickle it into the
    processes that they start, where this holds, too.
    """
    store: Any = ConfigStore.instance()
    if "load" in vars(store):
        yield
        return
    store.load = _load_unless_ours
    try:
        yield
    finally:
        del store.load


def _load_unless_ours(config_path: str) -> ConfigNode:
    """Return a stored config. Raises ConfigLoadError where there is none, or where we have a file of the name."""
    if (CONFIG_DIR / config_path).is_file():
        raise ConfigLoadError(f"{config_path}: not to be validated")
    return ConfigStore.load(ConfigStore.instance(), config_path)
