"""Many models of one shape as one: the model ``lnexp_array``."""

from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq import models, utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import FairseqEncoderDecoderModel, register_model
from omegaconf import OmegaConf
from torch import Tensor

from ..first_batch import SeesFirstBatch
from .stacked import stack

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
class ArrayModel(SeesFirstBatch, FairseqEncoderDecoderModel):
    """``S`` models over the same batch.

    Encoder and decoder are those of the first member, with every leaf module in its stacked form: what goes through
    has ``S·B`` rows, the first ``B`` of them the first member's. ``state_dict`` has a single model's names, and tensors
    with a member axis in front.
    """

    def __init__(self, encoder, decoder, members: int, dtype: torch.dtype | None):
        super().__init__(encoder, decoder)
        self.members = members
        for side in (encoder, decoder):
            side.embed_tokens.dtype = dtype
            side.embed_positions.to(dtype)

    @classmethod
    def build_model(cls, cfg: ArrayModelConfig, task) -> "ArrayModel":
        """Build each member just as it would be built alone after seeding torch with its seed, and stack them."""
        members = []
        for seed in cfg.seeds:
            utils.set_torch_seed(seed)
            members.append(models.build_model(OmegaConf.create(dict(cfg.member)), task))
        first = stack(members)
        return cls(first.encoder, first.decoder, len(members), DTYPES[str(cfg.precision)])

    def forward(self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor) -> Tensor:
        """The decoder's last hidden states, ``(S, B, target_time, channel)``, for one batch of ``B`` pairs.

        Logits come of them and of :attr:`output_weight`; training never holds all of those at once.

        Args:
            src_tokens: ``(B, source_time)``.
            src_lengths: ``(B,)``.
            prev_output_tokens: ``(B, target_time)``.
        """
        if self.training and not self.is_profiled:
            self.profile_on(src_tokens, src_lengths, prev_output_tokens)
        encoder_out = self.encoder(src_tokens.repeat(self.members, 1), src_lengths.repeat(self.members))
        x, _ = self.decoder.extract_features(prev_output_tokens.repeat(self.members, 1), encoder_out)
        return x.reshape(self.members, *prev_output_tokens.shape, -1)

    @property
    def output_weight(self) -> Tensor:
        """The output projections, ``(S, words, channel)``."""
        return self.decoder.output_projection.weight
