"""The family of models with an encoder alone."""

from fairseq.models.transformer import Embedding

from lnexp.plugin.encoder_decoder import Encoder
from lnexp.plugin.family import Family


class EncoderOnly(Family):
    """An encoder, and a score of every word at every position."""

    sides = ("encoder",)

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    @classmethod
    def build(cls, cfg, task):
        words = task.source_dictionary
        return cls(Encoder(cfg, words, Embedding(len(words), cfg.encoder.embed_dim, words.pad())))

    def forward(self, **net_input):
        self.see_first_batch_in_training(**net_input)
        return self.features(**net_input) @ self.output_weight.t()

    def features(self, src_tokens, src_lengths):
        return self.encoder(src_tokens, src_lengths)["encoder_out"][0].transpose(0, 1)

    @property
    def output_weight(self):
        return self.encoder.embed_tokens.weight

    def kept(self, src_tokens, src_lengths):
        return {"encoder": src_tokens.ne(self.encoder.padding_idx).t()}
