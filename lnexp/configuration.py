"""Composing configs: where they lie, what they may compute, and what is refused before any work begins."""

from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from lnexp.checks import check_choice, check_positive, check_whole
from lnexp.errors import UserError
from lnexp.hashing import file_digest, sha256_of_files

ROOT = Path(__file__).resolve().parent.parent
CONFIG_DIR = ROOT / "configs"


def register_resolvers() -> None:
    """Make ``${lnexp.…}`` known to OmegaConf."""
    OmegaConf.register_new_resolver("lnexp.equal", lambda a, b: a == b, replace=True)
    OmegaConf.register_new_resolver("lnexp.corpus_sha256", _corpus_sha256, replace=True, use_cache=False)
    OmegaConf.register_new_resolver("lnexp.file_sha256", _file_sha256, replace=True, use_cache=False)


def _corpus_sha256(*, _parent_: DictConfig) -> str:
    """Of the files below ``root`` that the ``splits`` beside it name."""
    if not _parent_.root:
        raise UserError("data.path: not set; say data.path=…")
    files = [file for split in _parent_.splits.values() for file in split]
    return sha256_of_files(_parent_.root, [file[side] for file in files for side in ("source", "target")])


def _file_sha256(path: str | None) -> str | None:
    if path is None:
        return None
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file")
    return file_digest(Path(path))


AT_LEAST_ONE = (
    "max_epoch",
    "max_tokens",
    "update_freq",
    "threads",
    "model.encoder_layers",
    "model.decoder_layers",
    "evaluation.valid_beam",
    "evaluation.test_beam",
    "evaluation.max_tokens",
    "probes.batches",
)

AT_LEAST_ZERO = (
    "seed",
    "order_seed",
    "probes.every",
    "evaluation.valid_sentences",
    "evaluation.whole_valid_every",
    "evaluation.average_last",
)


def check(cfg: DictConfig) -> None:
    """Refuse values that cannot be meant.

    Raises:
        UserError: one line that names the option, its value and what it must be.
    """
    OmegaConf.missing_keys(cfg)  # raises where a setting is made of one that is missing
    check_whole("warmup_updates", cfg.warmup_updates, least=1, hint="; 1 means no warm-up")
    for option in AT_LEAST_ONE:
        check_whole(option, OmegaConf.select(cfg, option), least=1)
    for option in AT_LEAST_ZERO:
        check_whole(option, OmegaConf.select(cfg, option), least=0)
    for option, least in {"first_seed": 0, "n_seeds": 1}.items():
        if cfg[option] is not None:
            check_whole(option, cfg[option], least)
    check_positive("lr_max", cfg.lr_max)
    if not isinstance(cfg.label_smoothing, int | float) or not 0 <= cfg.label_smoothing < 1:
        raise UserError(f"label_smoothing={cfg.label_smoothing}: must be a number from 0 to below 1")
    for option, choices in {
        "device": ("auto", "cpu", "cuda"),
        "precision": ("fp32", "bf16", "fp16"),
        "init": ("paper", "fairseq"),
        "checkpoints.keep": ("best_and_last", "last", "all"),
    }.items():
        check_choice(option, OmegaConf.select(cfg, option), choices)


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
            f"profile={cfg.profile} needs a GPU and none is visible: take profile=small, or device=cpu to go on slowly"
        )


def compose(overrides: list[str]) -> DictConfig:
    """The config that ``scripts/train.py`` would see with these command-line overrides."""
    import hydra

    register_resolvers()
    forget_schemas()
    with hydra.initialize_config_dir(str(CONFIG_DIR), version_base="1.3"):
        return hydra.compose("train", overrides=[spell_out(override) for override in overrides])


#: What these groups of fairseq's are called in our config, where they are set.
OUR_GROUPS = {"model": "model", "optimizer": "optimizer", "lr_scheduler": "lr_schedule"}


def spell_out(override: str) -> str:
    """``fairseq.common.fp16=true`` as Hydra wants it: ``++``, for only fairseq itself knows which options there are.

    An option of its model, optimizer or lr_scheduler is set in our group, which fairseq's is made of.

    Raises:
        UserError: for two files of one group.
    """
    _refuse_mixture(override)
    prefix, _, rest = override.partition("fairseq.")
    if prefix not in ("", "+", "++") or not rest:
        return override
    group, _, option = rest.partition(".")
    return f"++{OUR_GROUPS[group]}.{option}" if group in OUR_GROUPS else f"++fairseq.{rest}"


#: Why two of them are not one.
MIXTURES = {
    "model": "a placement is the whole of how a block is joined, and what unites two is a class of its own, see "
    "docs/extending.md"
}


def _refuse_mixture(override: str) -> None:
    """Hydra would lay the files of ``model=[admin,rezero]`` over each other, and the last would win in silence."""
    group, _, files = override.lstrip("+").partition("=")
    if group and files.startswith("[") and (CONFIG_DIR / group).is_dir():
        raise UserError(
            f"{override}: must be one; {MIXTURES.get(group, 'for a sweep say -m and leave out the brackets')}"
        )


def forget_schemas() -> None:
    """Take out of Hydra's ConfigStore what others put there under the names of our files.

    Hydra validates a config file against a stored one of the same name, so once fairseq is imported our
    ``optimizer/adam`` would have to fit fairseq's.
    """
    for path in CONFIG_DIR.glob("**/*.yaml"):
        stored: Any = ConfigStore.instance().repo
        for group in path.relative_to(CONFIG_DIR).parent.parts:
            stored = stored.get(group, {})
        stored.pop(path.name, None)
