"""The models that are trained, as they are before training, and batches of a corpus for them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import tasks, utils
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import lnexp.plugin  # noqa: F401  (registers our models and the task)
from lnexp.checks import check_whole
from lnexp.configuration import check, compose, forget_schemas
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.fairseq_config import to_fairseq
from lnexp.theory.probe import Context

forget_schemas()

#: A Transformer of any placement is probed as the paper draws it, without dropout.
AS_ANALYSED = ("init=paper", "model.dropout=0", "tracker=none")


@dataclass
class Probed:
    """A model that is not in training, its loss, and minibatches."""

    model: Any
    criterion: Any
    batches: list[dict[str, Any]]


def untrained(context: Context, batches: int, tokens: int, overrides: Sequence[str]) -> Probed:
    """A model at initialisation, and minibatches of the training data of at most ``tokens`` tokens a side.

    Args:
        context: says the seed of the initialisation and of which batches, and the corpus.
        batches: how many.
        tokens: of a minibatch, per side.
        overrides: of ``scripts/train.py``'s config: which model.

    Raises:
        UserError: for a model that cannot be.
    """
    seed = [f"seed={context.seed}", f"max_tokens={tokens}"]
    cfg = compose([*AS_ANALYSED, *overrides, *seed, *context.overrides])
    check(cfg)
    OmegaConf.resolve(cfg)
    for side in ("encoder_layers", "decoder_layers"):
        check_whole(f"model.{side}", cfg.model[side], least=1)
    return _build(cfg, batches)


def _build(cfg: DictConfig, batches: int) -> Probed:
    corpus = prepare(cfg.data, cfg.data_dir)
    fairseq = to_fairseq(cfg, corpus.bin, Path("none"))  # nothing is saved
    task = tasks.setup_task(fairseq.task)
    utils.set_torch_seed(cfg.seed)
    try:
        model = task.build_model(fairseq.model).eval()
    except (AssertionError, ValueError, OmegaConfBaseException) as error:
        raise UserError(f"model: {str(error).splitlines()[0]}") from error
    criterion = task.build_criterion(fairseq.criterion)
    task.load_dataset("train")
    iterator = task.get_batch_iterator(task.dataset("train"), max_tokens=cfg.max_tokens, seed=cfg.seed)
    return Probed(model, criterion, list(itertools.islice(iterator.next_epoch_itr(shuffle=True), batches)))


def loss_of(probed: Probed, batch: dict[str, Any]) -> torch.Tensor:
    """The minibatch's loss, mean over its target tokens."""
    loss, tokens, _ = probed.criterion(probed.model, batch)
    return loss / tokens
