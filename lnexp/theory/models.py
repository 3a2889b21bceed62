"""Models and batches of a corpus to look at; the models of a config, as they are before training."""

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
from lnexp.configuration import check, compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.fairseq_config import to_fairseq
from lnexp.theory.probe import Context
from lnexp.theory.setting import placement_named

#: Both sides of a model, and what a batch calls the tokens that go in there.
SIDES = {"encoder": "src_tokens", "decoder": "prev_output_tokens"}
#: A Transformer of any placement is probed as the paper draws it, without dropout.
AS_ANALYSED = ("init=paper", "model.dropout=0", "tracker=none")


@dataclass
class Probed:
    """A model that is not in training, its loss, and minibatches."""

    model: Any
    criterion: Any
    batches: list[dict[str, Any]]

    @classmethod
    def of(cls, task: Any, model: Any, criterion: DictConfig, cfg: DictConfig) -> "Probed":
        """A model of a task of fairseq's, and minibatches of the task's training data.

        Args:
            task: has the training data.
            model: is set to evaluation mode.
            criterion: fairseq's config of it.
            cfg: our config, which says ``probes.batches``, ``max_tokens`` and ``order_seed``.

        Raises:
            UserError: where there are fewer minibatches.
        """
        task.load_dataset("train")
        batches = first_batches(task, cfg.max_tokens, cfg.order_seed, cfg.probes.batches)
        if hasattr(model, "profile_on"):  # stock fairseq's have nothing to start from a batch
            model.profile_on(**batches[0]["net_input"])
        return cls(model.eval(), task.build_criterion(criterion), batches)


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
    asked = [f"model={placement}", *AS_ANALYSED, *(f"model.{setting}" for setting in model)]
    sizes = [f"seed={context.seed}", f"probes.batches={batches}", f"max_tokens={tokens}"]
    return at_initialisation(compose([*context.overrides, *asked, *sizes]))


def so_deep(layers: int) -> list[str]:
    """The settings of a model of so many layers a side."""
    return [f"{side}_layers={layers}" for side in SIDES]


def at_initialisation(cfg: DictConfig) -> Probed:
    """The model of a config, not trained, and minibatches of its training data.

    Raises:
        UserError: for a model that cannot be, or fewer minibatches than asked for.
    """
    check(cfg)
    OmegaConf.resolve(cfg)
    corpus = prepare(cfg.data, cfg.data_dir)
    fairseq = to_fairseq(cfg, corpus.bin, Path("none"))  # nothing is saved
    task = tasks.setup_task(fairseq.task)
    utils.set_torch_seed(cfg.seed)
    try:
        model = task.build_model(fairseq.model)
    except (AssertionError, ValueError, ZeroDivisionError, OmegaConfBaseException) as error:
        raise UserError(f"model: {str(error).splitlines()[0]}") from error
    return Probed.of(task, model, fairseq.criterion, cfg)


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
