"""Build the model and the minibatches that are probed: a model's sides, its loss, its first batches."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from omegaconf import DictConfig

import lnexp.plugin  # noqa: F401  (registers our models and the task)
from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.fairseq_config import build_model, build_task, to_fairseq
from lnexp.plugin.family import Family
from lnexp.plugin.placement import Side
from lnexp.tasks import task_of
from lnexp.theory.measurement import Context
from lnexp.theory.setting import placement_named

#: The sides that stock fairseq's models may have, and the names of their input tokens in a batch's ``net_input``.
STOCK_SIDES: dict[Side, str] = {"encoder": "src_tokens", "decoder": "prev_output_tokens"}
#: Models are measured without dropout, and as the paper initialises them unless their placement's own paper differs.
AS_ANALYSED = ("init=paper", "model.dropout=0", "tracker=none")


def sides_of(model: Any) -> tuple[Side, ...]:
    """Return the sides of a model: those of its family; of a stock fairseq model, those that have layers."""
    if isinstance(model, Family):
        return model.sides
    return tuple(side for side in STOCK_SIDES if hasattr(getattr(model, side, None), "layers"))


def kept_positions(model: Any, net_input: dict[str, Any]) -> dict[Side, torch.Tensor]:
    """Return which positions of a batch are no padding, by side, each ``(time, batch)``."""
    if isinstance(model, Family):
        return model.kept(**net_input)
    return {side: net_input[STOCK_SIDES[side]].ne(getattr(model, side).padding_idx).t() for side in sides_of(model)}


@dataclass
class ProbedModel:
    """A model in evaluation mode, its loss, and the minibatches that it is probed with."""

    model: Any
    criterion: Any
    batches: list[dict[str, Any]]

    @classmethod
    def of(cls, task: Any, model: Any, criterion: DictConfig, cfg: DictConfig) -> "ProbedModel":
        """Set a model of a fairseq task to evaluation mode, and take minibatches of the task's training data.

        Args:
            task: fairseq's; its training data are loaded here.
            model: the task's.
            criterion: fairseq's config of the loss.
            cfg: our config, for ``probes.batches``, ``max_tokens`` and ``order_seed``.

        Raises:
            UserError: where there are fewer minibatches.
        """
        task.load_dataset("train")
        batches = first_batches(task, cfg.max_tokens, cfg.order_seed, cfg.probes.batches, cfg.fairseq.dataset)
        if hasattr(model, "see_first_batch"):  # stock fairseq's models have no parameters that start from a batch
            model.see_first_batch(**batches[0]["net_input"])
        return cls(model.eval(), task.build_criterion(criterion), batches)


def untrained_placement(
    context: Context,
    placement: str,
    model: Sequence[str],
    batches: int,
    tokens: int,
    *,
    layers: int | None = None,
) -> ProbedModel:
    """Return a model of a placement at the paper's initialisation, with minibatches of the training data.

    Args:
        context: the seed of the parameters and of the order of batches, and the corpus.
        placement: a registered one.
        model: further settings of the model, as ``encoder_embed_dim=512``.
        batches: number of minibatches.
        tokens: of a minibatch, per side, at most.
        layers: of every side; None: as ``model`` or the config states.

    Raises:
        UserError: for an unknown placement, settings that no model can have, or fewer minibatches than asked for.
    """
    placement_named(placement)  # for its message, which lists the placements
    settings = [f"model={placement}", *AS_ANALYSED, *(f"model.{setting}" for setting in model)]
    sizes = [f"seed={context.seed}", f"probes.batches={batches}", f"max_tokens={tokens}"]
    cfg = compose([*context.overrides, *settings, *sizes])
    if layers is not None:
        cfg.model.update({f"{side}_layers": layers for side in STOCK_SIDES if f"{side}_layers" in cfg.model})
    return untrained_model(cfg)


def untrained_model(cfg: DictConfig) -> ProbedModel:
    """Return the model of a config before training, with minibatches of its training data.

    Raises:
        UserError: for settings that no model can have, weights of another training that it would start from and that
            are not there, or fewer minibatches than asked for.
    """
    check_and_resolve(cfg)
    if cfg.fairseq.checkpoint.get("finetune_from_model"):
        raise UserError("fairseq.checkpoint.finetune_from_model: probe that checkpoint itself, with checkpoint=…")
    corpus = task_of(cfg).prepare(cfg.data, cfg.data_dir)
    fairseq = to_fairseq(cfg, corpus.bin, Path("none"))  # nothing is saved
    task = build_task(fairseq)
    task_of(cfg).set_starts(task, [cfg])
    utils.set_torch_seed(cfg.seed)
    model = build_model(task, fairseq)
    return ProbedModel.of(task, model, fairseq.criterion, cfg)


def first_batches(task: Any, tokens: int, seed: int, count: int, dataset: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the first ``count`` minibatches of the training data.

    Args:
        task: fairseq's.
        tokens: of a minibatch, per side, at most; where the longest sentence has more, as many as it has, so that no
            sentence is left out.
        seed: of the order.
        count: how many.
        dataset: fairseq's options of the data, of which ``batch_size`` limits a minibatch, too.

    Raises:
        UserError: where there are fewer.
    """
    data = task.dataset("train")
    most = max(tokens, data.sizes.max())
    limits = {"max_tokens": int(most), "max_sentences": dataset.get("batch_size")}
    iterator = task.get_batch_iterator(data, **limits, seed=seed, disable_iterator_cache=True)
    found = list(itertools.islice(iterator.next_epoch_itr(), count))
    if len(found) < count:
        raise UserError(f"batches={count}: the training data has {len(found)} of {most} tokens")
    return found


def loss_of(probed: ProbedModel, batch: dict[str, Any]) -> torch.Tensor:
    """Return a minibatch's loss, in nats, as the mean over its target tokens: a tensor without dimensions."""
    loss, tokens, _ = probed.criterion(probed.model, batch)
    return loss / tokens
