"""Compose configs, and refuse what cannot be meant before any work begins."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hydra.core.config_store import ConfigLoadError, ConfigNode, ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from lnexp.composer import Composer
from lnexp.corpora.checksums import corpus_sha256, file_sha256, pairs_sha256
from lnexp.errors import UserError
from lnexp.options import Alias, Option
from lnexp.paths import CONFIG_DIR
from lnexp.plain import drop, find, plain
from lnexp.recipes.run_of_arm import run_of_arm
from lnexp.tasks import table_of, task_of
from lnexp.torch_variables import check_variables
from lnexp.versions import check_torch


def register_resolvers() -> None:
    """Make ``${lnexp.…}`` known to OmegaConf."""
    OmegaConf.register_new_resolver("lnexp.equal", lambda a, b: a == b, replace=True)
    OmegaConf.register_new_resolver("lnexp.or_zero", lambda value: value or 0, replace=True)
    OmegaConf.register_new_resolver("lnexp.corpus_sha256", corpus_sha256, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.file_sha256", file_sha256, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.pairs_sha256", pairs_sha256, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.run_of_arm", run_of_arm, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.uuid", lambda: uuid.uuid4().hex, replace=True)


def shared_settings(cfg: DictConfig, order: bool = True) -> dict[str, Any]:
    """Return the resolved settings in which the members of one array agree.

    Args:
        order: whether the order of the data is one of them.
    """
    settings = plain(cfg)
    for name in table_of(cfg).places(lambda option: option.per_member or (option.name == "order_seed" and not order)):
        drop(settings, name)
    return settings


def check(cfg: DictConfig) -> dict[str, Any]:
    """Refuse values that cannot be meant, text that would run as code, options with two values under two names, and
    those that do not go together.

    Returns:
        The resolved settings of the config, for what else needs them: to resolve takes most of the time.

    Raises:
        UserError: one line that names the option, its value and what it must be.
    """
    settings = plain(cfg)  # raises where a setting is made of one that is missing
    table = table_of(cfg)
    table.check(settings, MISSING)
    for option in table.rows:
        value = find(settings, option.name, MISSING)
        if value != MISSING:
            for alias in option.aliases:
                _check_alias(settings, alias, option, value)
    task_of(settings).check(settings)
    return settings


def check_and_resolve(cfg: DictConfig) -> DictConfig:
    """Replace every interpolation of a config by its value, and return the config itself.

    Raises:
        UserError: where :func:`check` refuses it.
    """
    check(cfg)
    OmegaConf.resolve(cfg)
    return cfg


def _check_alias(settings: dict[str, Any], alias: Alias, option: Option, value: Any) -> None:
    there = find(settings, alias.name, MISSING)
    if there not in (MISSING, alias.there(value)):
        raise UserError(f"{alias.name}={there}: is {option.name} by another name, which is {value}; set {option.name}")


def check_device(cfg: DictConfig) -> None:
    """Refuse what needs a GPU without one, a torch that is not supported, and an environment that changes precision.

    Raises:
        UserError: where the config asks for CUDA, or for fp16, and there is no GPU; for such a torch or environment.
    """
    check_torch()
    check_variables()
    if cfg.device != "cuda" and cfg.precision != "fp16":
        return
    import torch

    gpu = cfg.device != "cpu" and torch.cuda.is_available()
    if cfg.precision == "fp16" and not gpu:
        raise UserError("precision=fp16: needs a GPU, for its loss scale; take bf16 or fp32")
    if not gpu:
        if cfg.profile != "paper":
            raise UserError("device=cuda: no GPU is visible; take device=cpu")
        raise UserError(
            "profile=paper needs a GPU and none is visible: take profile=small, or device=cpu, which is slow"
        )


def compose(overrides: Sequence[str]) -> DictConfig:
    """Return the config that ``scripts/train.py`` has with these command-line overrides."""
    return _COMPOSER.compose(overrides)


def hydra_compose(overrides: Sequence[str]) -> DictConfig:
    """Return the config that Hydra composes of spelled-out overrides; :func:`compose` is faster."""
    import hydra

    register_resolvers()
    with own_schemas(), _beside_a_running_hydra(), hydra.initialize_config_dir(str(CONFIG_DIR), version_base="1.3"):
        return hydra.compose("train", overrides=list(overrides))


@contextmanager
def _beside_a_running_hydra() -> Iterator[None]:
    """Set aside the Hydra that runs the command, if one does: it refuses that another one is initialised."""
    from hydra.core.global_hydra import GlobalHydra

    running = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = running


_COMPOSER = Composer(hydra_compose)


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
