"""The loss of classifying pairs: ``lnexp_sentence_pairs``, and ``lnexp_sentence_pairs_array`` of an array of models."""

import math
from dataclasses import dataclass
from typing import Any

from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch.nn import functional

from lnexp.plugin.arrays.criterion import ARRAY_CRITERIA, ArrayCriterion

#: No class: every pair has one.
NO_CLASS = -1


@dataclass
class SentencePairsConfig(FairseqDataclass):
    """Has no options."""


@register_criterion("lnexp_sentence_pairs", dataclass=SentencePairsConfig)
class SentencePairsCriterion(FairseqCriterion):
    """The nll of the class of each pair."""

    def __init__(self, task: Any):
        super().__init__(task)
        self.padding_idx = NO_CLASS

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> tuple[Any, int, dict[str, Any]]:
        """Return the sum of the nlls in nats, the number of pairs, and what to log.

        Args:
            model: scores classes, see :class:`.family.PairEncoder`.
            sample: a batch, see :func:`.fairseq_task.batch_of`.
            reduce: of fairseq's signature, without effect.
        """
        scores, _ = model(**sample["net_input"])
        loss = functional.cross_entropy(scores.squeeze(1).float(), sample["target"], reduction="sum")
        pairs = sample["nsentences"]
        return loss, pairs, {"loss": loss.data, "ntokens": pairs, "nsentences": pairs, "sample_size": pairs}

    @staticmethod
    def reduce_metrics(logging_outputs: Any) -> None:
        """Log the loss of an update or of a validation, in bits a pair."""
        pairs = sum(output["nsentences"] for output in logging_outputs)
        loss = sum(output["loss"] for output in logging_outputs)
        metrics.log_scalar("loss", loss / pairs / math.log(2), pairs, round=3)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """Return that fairseq may add up what the processes of a run have logged."""
        return True


@register_criterion("lnexp_sentence_pairs_array", dataclass=SentencePairsConfig)
class SentencePairsArrayCriterion(ArrayCriterion):
    """The same for each member."""

    def __init__(self, task: Any):
        super().__init__(task, label_smoothing=0.0)
        self.padding_idx = NO_CLASS

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> tuple[Any, int, dict[str, Any]]:
        """Return the sum of the members' nlls in nats, the number of pairs, and what to log.

        Args:
            model: an array of :class:`.family.PairEncoder`.
            sample: a batch, see :func:`.fairseq_task.batch_of`.
            reduce: of fairseq's signature, without effect.
        """
        hidden = model(**sample["net_input"]).squeeze(2)
        losses, nlls = self.losses(hidden, model.output_weight, sample["target"])
        pairs = sample["nsentences"]
        logging_output = {
            "member_loss": losses.detach(),
            "member_nll": nlls,
            "ntokens": pairs,
            "nsentences": pairs,
            "sample_size": pairs,
        }
        return losses.sum(), pairs, logging_output


ARRAY_CRITERIA["lnexp_sentence_pairs"] = lambda options: {"_name": "lnexp_sentence_pairs_array"}
