"""Find the checkpoint that a run starts from, and refuse one that is missing or of another task, model or corpus."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.corpora.labelled_pairs import text_settings
from lnexp.corpora.prepare import contents
from lnexp.errors import UserError
from lnexp.plain import plain
from lnexp.runs.checksum import is_whole
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.tasks.contract import Start

#: The task of the run that a run starts from.
PRE_TRAINING = "masked_lm"

#: Options of a model that a run may have otherwise than the run that it starts from: they change no parameter.
FREE = ("dropout", "attention_dropout", "activation_dropout", "checkpoint_activations", "init")

#: Options that older runs do not state, with the value that these have.
NEWER = {"qk_norm": False}


def start_of(cfg: DictConfig) -> Start | None:
    """Return the checkpoint that a run starts from; None for a run from scratch.

    Raises:
        UserError: where the config does not say which.
    """
    if OmegaConf.is_missing(cfg.start, "epoch"):
        raise UserError("start.epoch: not set; say which epoch's checkpoint to start from, or 0 to train from scratch")
    if not cfg.start.epoch:
        return None
    if not cfg.start.run:
        raise UserError("start.run: not set; say the identity of the run to start from, or start.recipe and start.arm")
    recipe = Path(cfg.start.recipe or "").stem  # the name of one that is said by its file
    arm = f"{recipe}/{cfg.start.arm}, seed {cfg.start.seed}" if recipe else ""
    return Start(str(cfg.start.run), int(cfg.start.epoch), arm)


def checkpoint_of(cfg: DictConfig) -> Path | None:
    """Return the checkpoint that a run starts from; None for a run from scratch.

    Raises:
        UserError: where there is no such run or checkpoint, or it is damaged, or of another task, model or corpus.
    """
    start = start_of(cfg)
    if start is None:
        return None
    path = find_folders(cfg.runs_dir).get(start.run)
    if path is None:
        raise UserError(
            f"start.run={start.run}: no such run in {cfg.runs_dir}; train it first{start.arm and f' ({start.arm})'}"
        )
    folder = RunFolder(path)
    _refuse_foreign(cfg, folder)
    folder.refuse_without_checkpoint(start.epoch)
    checkpoint = folder.saved.of_epoch(start.epoch)
    if not is_whole(checkpoint):
        raise UserError(f"{checkpoint}: is not what was saved; force=true trains its run again")
    return checkpoint


def _refuse_foreign(cfg: DictConfig, folder: RunFolder) -> None:
    """Refuse a run with another task, model or corpus, whose parameters would mean something else."""
    there = folder.config
    if there.get("task") != PRE_TRAINING:
        raise UserError(
            f"start.run={folder.identity}: is a run of task={there.get('task')}; a run starts from one of"
            f" task={PRE_TRAINING}"
        )
    mine = _model(plain(cfg.model))
    theirs = _model(there.get("model") or {})
    for name in sorted(mine.keys() | theirs.keys()):
        if mine.get(name) != theirs.get(name):
            raise UserError(
                f"start.run={folder.identity}: has model.{name}={theirs.get(name)}, and this run {mine.get(name)}"
            )
    if contents(text_settings(there.get("data") or {})) != contents(text_settings(plain(cfg.data))):
        raise UserError(
            f"start.run={folder.identity}: was trained on other text or subwords than data={cfg.data.name} has here"
        )


def _model(options: dict[str, Any]) -> dict[str, Any]:
    stated = NEWER | options
    return {name: value for name, value in stated.items() if name not in FREE and not name.startswith("decoder_")}
