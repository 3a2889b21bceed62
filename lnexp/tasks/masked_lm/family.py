"""The family of models with an encoder alone, which score every word at the positions that are asked for."""

from typing import Any, ClassVar

from torch import Tensor

from lnexp.plugin.encoder_decoder import Encoder, EncoderDecoder
from lnexp.plugin.family import Family
from lnexp.plugin.fix_norm import EPS, FixNormEmbedding
from lnexp.plugin.norms.scale_norm import unit_length
from lnexp.plugin.placement import Side


class EncoderOnly(Family):
    """An encoder whose output projection is its embedding.

    fairseq's RoBERTa normalises the embedding, so that Pre-LN has two LayerNorms in a row; here a placement has its
    own norms and no other. Positions are sinusoidal, as in the project's other models.
    """

    sides: ClassVar[tuple[Side, ...]] = ("encoder",)

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder: Any = encoder

    @classmethod
    def build(cls, cfg: Any, task: Any) -> "EncoderOnly":
        """Build the model for the task's dictionary."""
        words = task.source_dictionary
        return cls(Encoder(cfg, words, EncoderDecoder.build_embedding(cfg, words, cfg.encoder.embed_dim)))

    def forward(self, src_tokens: Tensor, src_lengths: Tensor, masked_tokens: Tensor | None = None) -> Any:
        """Return the scores of all words, and None (fairseq's slot for further outputs).

        Args:
            src_tokens: ``(batch, time)``.
            src_lengths: ``(batch,)``.
            masked_tokens: ``(batch, time)``, true at the N positions to score; None: all of them.

        Returns:
            ``(N, words)``, or ``(batch, time, words)``.
        """
        self.see_first_batch_in_training(src_tokens=src_tokens, src_lengths=src_lengths)
        x = self.features(src_tokens, src_lengths)
        x = x if masked_tokens is None else x[masked_tokens]
        return x @ self.output_weight.to(x.dtype).t(), None

    def features(self, src_tokens: Tensor, src_lengths: Tensor) -> Tensor:
        """Return the encoder's last hidden states, ``(batch, time, channel)``."""
        return self.encoder(src_tokens, src_lengths)["encoder_out"][0].transpose(0, 1)

    @property
    def output_weight(self) -> Tensor:
        """The embedding, ``(words, channel)``, with ``fix_norm`` of words of length 1; in an array ``(S, …)``."""
        embedding = self.encoder.embed_tokens
        return unit_length(embedding.weight, EPS) if isinstance(embedding, FixNormEmbedding) else embedding.weight

    def kept(self, src_tokens: Tensor, src_lengths: Tensor) -> dict[Side, Tensor]:
        """Return which positions of a batch are no padding, ``(time, batch)``."""
        return {"encoder": src_tokens.ne(self.encoder.padding_idx).t()}
