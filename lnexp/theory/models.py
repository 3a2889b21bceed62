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
from lnexp.theory.setting import placement_named

forget_schemas()

#: A Transformer of any placement is probed as the paper draws it, without dropout.
AS_ANALYSED = ("init=paper", "model.dropout=0", "tracker=none")


@dataclass
class Probed:
    """A model that is not in training, its loss, and minibatches."""

    model: Any
    criterion: Any
    batches: list[dict[str, Any]]


def untrained(context: Context, placement: str, model: Sequence[str], batches: int, tokens: int) -> Probed:
    """A model at initialisation, and minibatches of the training data of at most ``tokens`` tokens a side.

    Args:
        context: says the seed of the initialisation and of which batches, and the corpus.
        placement: a registered one.
        model: further settings of the model, as ``encoder_embed_dim=512``.
        batches: how many.
        tokens: of a minibatch, per side.

    Raises:
        UserError: for a placement that there is none of, a model that cannot be, or fewer minibatches than asked for.
    """
    placement_named(placement)  # says which there are
    asked = [f"model={placement}", *(f"model.{setting}" for setting in model)]
    cfg = compose([*context.overrides, *AS_ANALYSED, *asked, f"seed={context.seed}", f"max_tokens={tokens}"])
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
    except (AssertionError, ValueError, ZeroDivisionError, OmegaConfBaseException) as error:
        raise UserError(f"model: {str(error).splitlines()[0]}") from error
    criterion = task.build_criterion(fairseq.criterion)
    task.load_dataset("train")
    return Probed(model, criterion, first_batches(task, cfg.max_tokens, cfg.order_seed, batches))


def first_batches(task: Any, tokens: int, seed: int, count: int) -> list[dict[str, Any]]:
    """So many minibatches of the training data, of at most ``tokens`` tokens a side, in an order by ``seed``.

    Where a sentence has more, the longest one decides: none is left out.

    Raises:
        UserError: where there are fewer.
    """
    data = task.dataset("train")
    most = max(tokens, data.src_sizes.max(), data.tgt_sizes.max())
    iterator = task.get_batch_iterator(data, max_tokens=int(most), seed=seed, disable_iterator_cache=True)
    found = list(itertools.islice(iterator.next_epoch_itr(shuffle=True), count))
    if len(found) < count:
        raise UserError(f"batches={count}: the training data has {len(found)} of {most} tokens")
    return found


def loss_of(probed: Probed, batch: dict[str, Any]) -> torch.Tensor:
    """The minibatch's loss, mean over its target tokens."""
    loss, tokens, _ = probed.criterion(probed.model, batch)
    return loss / tokens
