"""fairseq's Transformer with the normalisation where a :class:`Placement` puts it."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import torch
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import register_model
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModelBase,
)
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from omegaconf import II, OmegaConf

from . import norms  # noqa: F401  (registers them)
from .first_batch import SeesFirstBatch
from .fix_norm import FixNormEmbedding, FixNormProjection
from .initialisation import INITIALISATIONS, initialise
from .layers import DecoderLayer, EncoderLayer
from .norm import NORMS
from .placement import Placement, Where


def _option(default, help_text: str):
    return field(default=default, metadata={"help": help_text})


@dataclass
class LayerNormTransformerConfig(FairseqDataclass):
    """The model's options; the defaults are the paper's IWSLT14 model (section 4).

    The fields are flat and carry the names of fairseq's own ``transformer`` flags, so the command line of
    ``fairseq-train`` and a Hydra config set them alike. (A nested dataclass loses its overrides on one of the two.)
    """

    encoder_embed_dim: int = _option(512, "encoder width d")
    encoder_ffn_embed_dim: int = _option(1024, "encoder FFN width")
    encoder_layers: int = _option(6, "encoder layers")
    encoder_attention_heads: int = _option(4, "encoder attention heads")
    decoder_embed_dim: int = _option(512, "decoder width d")
    decoder_ffn_embed_dim: int = _option(1024, "decoder FFN width")
    decoder_layers: int = _option(6, "decoder layers")
    decoder_attention_heads: int = _option(4, "decoder attention heads")
    dropout: float = _option(0.1, "dropout of every sublayer's output and of the embeddings")
    attention_dropout: float = _option(0.0, "dropout of the attention weights")
    activation_dropout: float = _option(0.0, "dropout after the FFN's activation")
    activation_fn: str = _option("relu", "the FFN's activation")
    share_decoder_input_output_embed: bool = _option(False, "tie the decoder's embedding and its output projection")
    share_all_embeddings: bool = _option(False, "tie all three; needs a joined dictionary")
    checkpoint_activations: bool = _option(False, "recompute activations in the backward pass, to save memory")
    norm: ChoiceEnum(list(NORMS)) = _option("layer_norm", "what normalises")  # type: ignore[valid-type]
    fix_norm: bool = _option(False, "word embeddings of length 1")
    init: ChoiceEnum(list(INITIALISATIONS)) = _option("paper", "initialisation")  # type: ignore[valid-type]
    max_source_positions: int = II("task.max_source_positions")
    max_target_positions: int = II("task.max_target_positions")


def _to_transformer_config(cfg: LayerNormTransformerConfig, final_norm: bool) -> TransformerConfig:
    """Our flat options as fairseq's nested ones."""
    flat: Any = OmegaConf.to_container(cfg, resolve=True) if OmegaConf.is_config(cfg) else vars(cfg)
    return TransformerConfig.from_namespace(
        Namespace(
            **flat,
            # fairseq defaults these two to its own width, not to ours
            decoder_input_dim=flat["decoder_embed_dim"],
            decoder_output_dim=flat["decoder_embed_dim"],
            encoder_normalize_before=final_norm,
            decoder_normalize_before=final_norm,
        )
    )


def _wrapped(layer, cfg: TransformerConfig):
    return checkpoint_wrapper(layer) if cfg.checkpoint_activations else layer


def _where(cfg: Any, side: Literal["encoder", "decoder"]) -> Where:
    return Where(side, cfg.encoder.layers, cfg.decoder.layers, getattr(cfg, side).embed_dim, NORMS[str(cfg.norm)])


class Encoder(TransformerEncoderBase):
    """fairseq's encoder over :class:`EncoderLayer`."""

    layer_norm: Any

    def __init__(self, cfg, dictionary, embed_tokens, placement: type[Placement]):
        self.placement = placement
        super().__init__(cfg, dictionary, embed_tokens)
        if placement.final_norm:
            self.layer_norm = placement.end(NORMS[str(cfg.norm)](cfg.encoder.embed_dim))

    def build_encoder_layer(self, cfg):
        return _wrapped(EncoderLayer(cfg, self.placement(_where(cfg, "encoder"))), cfg)


class Decoder(TransformerDecoderBase):
    """fairseq's decoder over :class:`DecoderLayer`."""

    layer_norm: Any
    output_projection: Any

    def __init__(self, cfg, dictionary, embed_tokens, placement: type[Placement]):
        self.placement = placement
        super().__init__(cfg, dictionary, embed_tokens)
        if placement.final_norm:
            self.layer_norm = placement.end(NORMS[str(cfg.norm)](cfg.decoder.embed_dim))

    def build_output_projection(self, cfg, dictionary, embed_tokens):
        super().build_output_projection(cfg, dictionary, embed_tokens)
        if cfg.fix_norm:
            self.output_projection = FixNormProjection(self.output_projection.weight)

    def build_decoder_layer(self, cfg, no_encoder_attn=False):
        return _wrapped(DecoderLayer(cfg, self.placement(_where(cfg, "decoder"))), cfg)


class LayerNormTransformer(SeesFirstBatch, TransformerModelBase):
    """An encoder-decoder Transformer; a subclass made by :func:`register_placement` names the placement."""

    placement: ClassVar[type[Placement]]

    def forward(self, src_tokens, src_lengths, prev_output_tokens, **options):
        """As fairseq's; the first batch of a training may be looked at before, see :mod:`.first_batch`.

        Raises:
            RuntimeError: where that comes too late for the optimizer.
        """
        if self.training and not self.is_profiled:
            profiled = self.profile_on(src_tokens, src_lengths, prev_output_tokens)
            if profiled and self.decoder.output_projection.weight.dtype in (torch.float16, torch.bfloat16):
                name = type(self).placement.__name__
                raise RuntimeError(f"{name} trains in half precision with the task lnexp_translation alone")
        return super().forward(src_tokens, src_lengths, prev_output_tokens, **options)

    @classmethod
    def add_args(cls, parser):
        # fairseq's base class would add its own nested options under the same flags
        super(TransformerModelBase, cls).add_args(parser)

    @classmethod
    def build_model(cls, cfg: LayerNormTransformerConfig, task) -> "LayerNormTransformer":
        """Build and initialise the model for the task's two dictionaries.

        Raises:
            ValueError: for a kind of norm where the placement has none.
        """
        if not cls.placement.block_norms and str(cfg.norm) != "layer_norm":
            raise ValueError(f"norm={cfg.norm}: {cls.placement.__name__} normalises nothing")
        model = super().build_model(_to_transformer_config(cfg, cls.placement.final_norm), task)
        initialise(model, str(cfg.init))
        return model

    @classmethod
    def build_embedding(cls, cfg, dictionary, embed_dim, path=None):
        embedding = super().build_embedding(cfg, dictionary, embed_dim, path)
        if cfg.fix_norm:
            return FixNormEmbedding.from_pretrained(embedding.weight, freeze=False, padding_idx=embedding.padding_idx)
        return embedding

    @classmethod
    def build_encoder(cls, cfg, src_dict, embed_tokens):
        return Encoder(cfg, src_dict, embed_tokens, cls.placement)

    @classmethod
    def build_decoder(cls, cfg, tgt_dict, embed_tokens):
        return Decoder(cfg, tgt_dict, embed_tokens, cls.placement)


#: The registered placements by name.
PLACEMENTS: dict[str, type[Placement]] = {}


def register_placement(name: str) -> Callable[[type[Placement]], type[Placement]]:
    """Class decorator: register the Transformer with this placement as fairseq's model ``lnexp_<name>``."""

    def register(placement: type[Placement]) -> type[Placement]:
        model = type(f"{placement.__name__}Transformer", (LayerNormTransformer,), {"placement": placement})
        register_model(f"lnexp_{name}", dataclass=LayerNormTransformerConfig)(model)
        PLACEMENTS[name] = placement
        return placement

    return register
