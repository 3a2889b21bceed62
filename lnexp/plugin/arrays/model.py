"""Many models of one shape as one: the model ``lnexp_array``."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from fairseq import models, utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from fairseq.modules import SinusoidalPositionalEmbedding
from omegaconf import OmegaConf
from torch import Tensor

from ..family import Family
from ..stacking import stack
from .stacked import StackedEmbedding

DTYPES = {"fp32": None, "bf16": torch.bfloat16}


@dataclass
class ArrayModelConfig(FairseqDataclass):
    """Which model, how often, and what it computes in."""

    member: dict[str, Any] = field(default_factory=dict, metadata={"help": "options of the model that each member is"})
    seeds: list[int] = field(default_factory=list, metadata={"help": "seed of each member's initialisation"})
    precision: ChoiceEnum(list(DTYPES)) = field(  # type: ignore[valid-type]  # fairseq's way to list choices
        default="fp32", metadata={"help": "what is computed in; parameters and their gradients are always fp32"}
    )


@register_model("lnexp_array", dataclass=ArrayModelConfig)
class ArrayModel(BaseFairseqModel):
    """``S`` models over the same batch.

    It is the first member with every leaf module in its stacked form, and with a class that derives from this one and
    from the member's family: what goes through has ``S·B`` rows, the first ``B`` of them the first member's. So it has
    all that a model of the family has (``encoder``, ``max_positions()``, …), and ``state_dict`` has a single model's
    names, and tensors with a member axis in front.

    Attributes:
        members: how many models it is.
    """

    members: int

    @classmethod
    def build_model(cls, cfg: ArrayModelConfig, task) -> "ArrayModel":
        """Build each member just as it would be built alone after seeding torch with its seed, and stack them."""
        members = []
        for seed in cfg.seeds:
            utils.set_torch_seed(seed)
            members.append(models.build_model(OmegaConf.create(dict(cfg.member)), task))
        array: Any = stack(members)
        array.__class__ = _array_of(array.__class__)
        array.members = len(members)
        _compute_in(array, DTYPES[str(cfg.precision)])
        return array

    def forward(self: Any, **net_input: Any) -> Tensor:
        """Return the members' hidden states before the output projection, ``(S, B, time, channel)``.

        Logits come of them and of ``output_weight``; training never holds all of those at once.

        Args:
            net_input: of one batch of ``B`` examples, as the single model takes it; every tensor in it is repeated
                for each member along its first axis.
        """
        self.see_first_batch_in_training(**net_input)
        rows = {
            name: value.repeat(self.members, *[1] * (value.dim() - 1)) if isinstance(value, Tensor) else value
            for name, value in net_input.items()
        }
        return self.features(**rows).unflatten(0, (self.members, -1))


@cache
def _array_of(family: type[Family]) -> type[ArrayModel]:
    """Return the class of an array whose members are models of a family."""
    return type(f"{family.__name__}Array", (ArrayModel, family), {})


def _compute_in(array: torch.nn.Module, dtype: torch.dtype | None) -> None:
    """Have the hidden states of an array be of a type from the embeddings on; None: that of the parameters."""
    for module in array.modules():
        if isinstance(module, StackedEmbedding):
            module.dtype = dtype
        elif isinstance(module, SinusoidalPositionalEmbedding):
            module.to(dtype)
