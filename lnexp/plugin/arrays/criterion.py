"""The losses of an array: the criterion ``lnexp_array``."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor

from .cross_entropy import cross_entropy, smooth_cross_entropy


@dataclass
class ArrayCriterionConfig(FairseqDataclass):
    """The option of fairseq's ``label_smoothed_cross_entropy`` that arrays have."""

    label_smoothing: float = field(default=0.0, metadata={"help": "epsilon of label smoothing; 0 means none"})


@register_criterion("lnexp_array", dataclass=ArrayCriterionConfig)
class ArrayCriterion(FairseqCriterion):
    """Label-smoothed cross-entropy of each member.

    The loss that fairseq sees is the members' sum: its gradient in a member's parameters is that of the member's own
    loss. It logs ``member_loss`` and ``member_nll``, each ``(S,)``, and the members' mean as ``loss`` and ``nll_loss``,
    in bits a token, as fairseq does.
    """

    def __init__(self, task, label_smoothing: float):
        super().__init__(task)
        self.label_smoothing = label_smoothing

    def forward(self, model: Any, sample, reduce=True):
        """Return the sum of the members' losses in nats, the number of target tokens, and what to log.

        Args:
            model: an :class:`.model.ArrayModel` of any family.
            sample: a batch: the model's ``net_input``, and as ``target`` a word for every position or padding.
            reduce: of fairseq's signature, without effect.
        """
        hidden = model(**sample["net_input"]).flatten(1, 2)
        losses, nlls = self.losses(hidden, model.output_weight, sample["target"].view(-1))
        logging_output = {
            "member_loss": losses.detach(),
            "member_nll": nlls,
            "ntokens": sample["ntokens"],
            "nsentences": sample["target"].size(0),
            "sample_size": sample["ntokens"],
        }
        return losses.sum(), sample["ntokens"], logging_output

    def losses(self, hidden: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sums of the label-smoothed losses and of the nlls in nats, each ``(S,)``.

        Args:
            hidden: states, ``(S, n, dim)``.
            weight: of the output, ``(S, classes, dim)``.
            target: a class for each state, or ``padding_idx``, ``(n,)``.
        """
        given = (hidden, weight, target, self.label_smoothing, self.padding_idx)
        losses, nlls = cross_entropy(*given)
        if torch.is_grad_enabled() and not self.training:  # a diagnostic, which may differentiate the gradient
            losses = smooth_cross_entropy(*given)
        return losses, nlls

    @classmethod
    def reduce_metrics(cls, logging_outputs) -> None:
        """Log the losses of an update or of a validation, in bits a token."""
        tokens = sum(output["ntokens"] for output in logging_outputs)
        for name, of_all in (("member_loss", "loss"), ("member_nll", "nll_loss")):
            bits = torch.stack([output[name] for output in logging_outputs]).sum(dim=0) / tokens / math.log(2)
            metrics.log_scalar(name, bits, tokens, priority=2000)
            metrics.log_scalar(of_all, bits.nanmean(), tokens)  # rounding would wait for the GPU at every update


#: By the name of a criterion, what makes its options those of the criterion that computes the same for every member.
ARRAY_CRITERIA: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "label_smoothed_cross_entropy": lambda options: {
        "_name": "lnexp_array",
        "label_smoothing": options["label_smoothing"],
    }
}
