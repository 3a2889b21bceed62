"""The family of encoders that give a pair of sentences a score for each class."""

from typing import Any

from torch import Tensor, nn

from lnexp.plugin.encoder_decoder import Encoder
from lnexp.tasks.masked_lm.family import EncoderOnly


class PairEncoder(EncoderOnly):
    """A pre-trained encoder with a new head: ``tanh`` of a linear map of the first position, and a score a class.

    That is the head of Devlin et al. 2019, section 4.1, with its pooler; the scores have no bias.
    """

    def __init__(self, encoder: Encoder, width: int, classes: int):
        super().__init__(encoder)
        self.dense: Any = nn.Linear(width, width)
        self.classes: Any = nn.Linear(width, classes, bias=False)

    @classmethod
    def build(cls, cfg: Any, task: Any) -> "PairEncoder":
        """Build the model for the task's dictionary and its number of classes."""
        return cls(EncoderOnly.build(cfg, task).encoder, cfg.encoder.embed_dim, task.classes)

    def forward(self, src_tokens: Tensor, src_lengths: Tensor, masked_tokens: Tensor | None = None) -> Any:
        """Return the scores of all classes, ``(batch, 1, classes)``, and None (fairseq's slot for further outputs).

        Args:
            src_tokens: ``(batch, time)``.
            src_lengths: ``(batch,)``.
            masked_tokens: of the family that this one extends, without effect.
        """
        self.see_first_batch_in_training(src_tokens=src_tokens, src_lengths=src_lengths)
        x = self.features(src_tokens, src_lengths)
        return x @ self.output_weight.to(x.dtype).t(), None

    def features(self, src_tokens: Tensor, src_lengths: Tensor) -> Tensor:
        """Return what classes are scored by, ``(batch, 1, channel)``."""
        first = super().features(src_tokens, src_lengths)[:, :1]
        return self.dense(first.transpose(0, 1)).transpose(0, 1).tanh()  # time first, as in an array's layers

    @property
    def output_weight(self) -> Tensor:
        """The scores' matrix, ``(classes, channel)``; in an array ``(S, classes, channel)``."""
        return self.classes.weight
