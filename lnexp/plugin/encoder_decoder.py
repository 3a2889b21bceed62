"""The encoder-decoder Transformer: fairseq's, with our layers. Its encoder serves other families, too."""

from typing import Any, ClassVar

from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModelBase,
)
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from torch import Tensor, nn

from .family import Family
from .fix_norm import FixNormEmbedding, FixNormProjection
from .layers import DecoderLayer, EncoderLayer
from .placement import Placement, Side


def _wrapped(layer: nn.Module, cfg: TransformerConfig) -> nn.Module:
    """Return the layer, made to recompute its activations in the backward pass if the options say so."""
    return checkpoint_wrapper(layer) if cfg.checkpoint_activations else layer


class _Stack(nn.Module):
    """A stack of layers with the placements ``cfg.placements[side]``; a base class beside one of fairseq's stacks."""

    side: ClassVar[Side]
    layer_norm: Any

    def __init__(self, cfg, dictionary, embed_tokens):
        self._placements = iter(cfg.placements[self.side])  # fairseq asks for layer after layer
        super().__init__(cfg, dictionary, embed_tokens)
        self._end(cfg.placements[self.side][-1])

    def _end(self, placement: Placement) -> None:
        """Replace the final LayerNorm that fairseq has built by what the last layer's placement ends a stack with.

        The name keeps its place among the modules: their order decides flat vectors and checkpoints.
        """
        if self.layer_norm is not None:
            self.layer_norm = placement.end(placement.where.norm(placement.where.width))


class Encoder(_Stack, TransformerEncoderBase):
    """fairseq's encoder over :class:`EncoderLayer`; the layers have the placements ``cfg.placements["encoder"]``."""

    side: ClassVar[Side] = "encoder"

    def build_encoder_layer(self, cfg):
        """Build the next layer."""
        return _wrapped(EncoderLayer(cfg, next(self._placements)), cfg)


class Decoder(_Stack, TransformerDecoderBase):
    """fairseq's decoder over :class:`DecoderLayer`; the layers have the placements ``cfg.placements["decoder"]``."""

    side: ClassVar[Side] = "decoder"
    output_projection: Any

    def build_output_projection(self, cfg, dictionary, embed_tokens):
        """Build the output projection, tied to the embedding or not; with ``fix_norm`` over words of length 1."""
        super().build_output_projection(cfg, dictionary, embed_tokens)
        if cfg.fix_norm:
            self.output_projection = FixNormProjection(self.output_projection.weight)

    def build_decoder_layer(self, cfg, no_encoder_attn=False):
        """Build the next layer."""
        return _wrapped(DecoderLayer(cfg, next(self._placements)), cfg)


class EncoderDecoder(Family, TransformerModelBase):
    """The family of translation models: an encoder over the source, a decoder over the target."""

    sides: ClassVar[tuple[Side, ...]] = ("encoder", "decoder")

    @classmethod
    def build(cls, cfg, task):
        """Build the model for the task's two dictionaries, as fairseq's ``transformer`` is built."""
        return super().build_model(cfg, task)

    @classmethod
    def build_embedding(cls, cfg, dictionary, embed_dim, path=None):
        """Build the embedding of a dictionary's words; with ``fix_norm`` of length 1."""
        embedding = super().build_embedding(cfg, dictionary, embed_dim, path)
        if cfg.fix_norm:
            return FixNormEmbedding.from_pretrained(embedding.weight, freeze=False, padding_idx=embedding.padding_idx)
        return embedding

    @classmethod
    def build_encoder(cls, cfg, src_dict, embed_tokens):
        """Build the encoder over a built embedding."""
        return Encoder(cfg, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, cfg, tgt_dict, embed_tokens):
        """Build the decoder over a built embedding."""
        return Decoder(cfg, tgt_dict, embed_tokens)

    def forward(self, src_tokens, src_lengths, prev_output_tokens, **options):
        """Return the scores of all words, ``(batch, target_time, words)``, and fairseq's extra outputs.

        The first batch of a training may be seen before, see :mod:`.first_batch`.

        Args:
            src_tokens: ``(batch, source_time)``.
            src_lengths: ``(batch,)``.
            prev_output_tokens: ``(batch, target_time)``.
            options: fairseq's further ones, such as ``features_only``.

        Raises:
            RuntimeError: if placements see their first batch too late for a half-precision optimizer.
        """
        self.see_first_batch_in_training(
            src_tokens=src_tokens, src_lengths=src_lengths, prev_output_tokens=prev_output_tokens
        )
        return super().forward(src_tokens, src_lengths, prev_output_tokens, **options)

    def features(self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor) -> Tensor:
        """Return the decoder's last hidden states, ``(batch, target_time, channel)``.

        Args:
            src_tokens: ``(batch, source_time)``.
            src_lengths: ``(batch,)``.
            prev_output_tokens: ``(batch, target_time)``.
        """
        x, _ = self.decoder.extract_features(prev_output_tokens, self.encoder(src_tokens, src_lengths))
        return x

    @property
    def output_weight(self) -> Tensor:
        """The output projection, ``(words, channel)``; in an array ``(S, words, channel)``."""
        return self.decoder.output_projection.weight

    def kept(self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor) -> dict[Side, Tensor]:
        """Return which positions of a batch are no padding: ``(source_time, batch)`` and ``(target_time, batch)``."""
        return {
            "encoder": src_tokens.ne(self.encoder.padding_idx).t(),
            "decoder": prev_output_tokens.ne(self.decoder.padding_idx).t(),
        }
