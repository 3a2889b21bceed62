"""The loss of masked language models: ``lnexp_masked_lm``, and ``lnexp_masked_lm_array`` of an array of them."""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.masked_lm import MaskedLmConfig, MaskedLmLoss
from fairseq.dataclass import FairseqDataclass

from lnexp.plugin.arrays.criterion import ARRAY_CRITERIA, ArrayCriterion


@register_criterion("lnexp_masked_lm", dataclass=MaskedLmConfig)
class LnexpMaskedLm(MaskedLmLoss):
    """fairseq's ``masked_lm``, under a name that checkpoints of ours may have."""


@dataclass
class MaskedLmArrayConfig(FairseqDataclass):
    """Has no options."""


@register_criterion("lnexp_masked_lm_array", dataclass=MaskedLmArrayConfig)
class MaskedLmArrayCriterion(ArrayCriterion):
    """The same for each member: scores are computed at hidden words alone."""

    def __init__(self, task: Any):
        super().__init__(task, label_smoothing=0.0)

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> tuple[Any, int, dict[str, Any]]:
        """Return the sum of the members' nlls in nats, the number of hidden words, and what to log.

        Args:
            model: an array of any family.
            sample: a batch, see :func:`.fairseq_task.batch_of`.
            reduce: of fairseq's signature, without effect.
        """
        asked = sample["target"].ne(self.padding_idx)
        hidden = model(**sample["net_input"])[:, asked]
        losses, nlls = self.losses(hidden, model.output_weight, sample["target"][asked])
        logging_output = {
            "member_loss": losses.detach(),
            "member_nll": nlls,
            "ntokens": sample["ntokens"],
            "nsentences": sample["nsentences"],
            "sample_size": sample["ntokens"],
        }
        return losses.sum(), sample["ntokens"], logging_output


ARRAY_CRITERIA["lnexp_masked_lm"] = lambda options: {"_name": "lnexp_masked_lm_array"}
