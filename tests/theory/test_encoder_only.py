"""Probing works on a model with one side, as a masked language model is."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.criterions.masked_lm import MaskedLmConfig, MaskedLmLoss
from fairseq.models import FairseqEncoderModel
from torch import nn

from lnexp.plugin.family import Family
from lnexp.theory.by_layer import ffn_gradients, mean_norms
from lnexp.theory.models import STOCK_SIDES, ProbedModel, loss_of, sides_of, untrained_placement

WIDTH = 32
NARROW = [f"{side}_{what}" for side in STOCK_SIDES for what in (f"embed_dim={WIDTH}", "ffn_embed_dim=48")]


class MaskedLm:
    """The encoder of a translation model, with an output projection."""

    def forward(self, src_tokens, src_lengths, masked_tokens=None):
        states = self.features(src_tokens, src_lengths)
        return (self.projection(states if masked_tokens is None else states[masked_tokens]),)

    def features(self, src_tokens, src_lengths):
        (states,) = self.encoder(src_tokens, src_lengths)["encoder_out"]
        return states.transpose(0, 1)

    def get_targets(self, sample, _net_output):
        return sample["target"]


class StockMaskedLm(MaskedLm, FairseqEncoderModel):
    def __init__(self, encoder, vocabulary: int):
        FairseqEncoderModel.__init__(self, encoder)
        self.projection = nn.Linear(WIDTH, vocabulary, bias=False)


class OurMaskedLm(MaskedLm, Family):
    sides = ("encoder",)

    def __init__(self, encoder, vocabulary: int):
        Family.__init__(self)
        self.encoder = encoder
        self.projection = nn.Linear(WIDTH, vocabulary, bias=False)

    @classmethod
    def build(cls, cfg, task):
        raise AssertionError("it is made by hand")

    @property
    def output_weight(self):
        return self.projection.weight

    def kept(self, src_tokens, src_lengths):
        return {"encoder": src_tokens.ne(self.encoder.padding_idx).t()}


@pytest.fixture
def translation(context) -> ProbedModel:
    return untrained_placement(context, "pre_ln", NARROW, 2, 200, layers=2)


@pytest.fixture(params=[StockMaskedLm, OurMaskedLm])
def masked_lm(translation, request) -> ProbedModel:
    torch.manual_seed(0)
    vocabulary = translation.model.encoder.dictionary
    model = request.param(translation.model.encoder, len(vocabulary)).eval()
    task = SimpleNamespace(source_dictionary=vocabulary, target_dictionary=vocabulary)
    batches = []
    for batch in translation.batches:
        tokens, lengths = batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"]
        masked = (torch.rand(tokens.shape) < 0.3) & tokens.ne(vocabulary.pad())
        batches.append(
            {
                "net_input": {"src_tokens": tokens.masked_fill(masked, vocabulary.unk()), "src_lengths": lengths},
                "target": tokens.masked_fill(~masked, vocabulary.pad()),
                "ntokens": int(masked.sum()),
                "nsentences": len(tokens),
            }
        )
    return ProbedModel(model, MaskedLmLoss(MaskedLmConfig(), task), batches)


def test_a_model_has_the_sides_of_its_family_or_those_with_layers(translation, masked_lm):
    assert sides_of(translation.model) == ("encoder", "decoder")
    assert sides_of(masked_lm.model) == ("encoder",)


def test_gradients_are_those_of_the_encoder(masked_lm):
    rows = ffn_gradients(masked_lm)
    assert [(row["side"], row["parameter"], row["layer"]) for row in rows] == [
        ("encoder", matrix, layer) for matrix in ("W1", "W2") for layer in (1, 2)
    ]
    loss = sum(loss_of(masked_lm, batch) for batch in masked_lm.batches) / 2
    (gradient,) = torch.autograd.grad(loss, masked_lm.model.encoder.layers[1].fc2.weight)
    assert rows[-1]["grad_norm"] == pytest.approx(float(gradient.norm()), rel=1e-5)


def test_hidden_states_are_those_of_the_encoder_without_padding(masked_lm):
    rows = mean_norms(masked_lm)
    assert [(row["side"], row["layer"]) for row in rows] == [("encoder", 1), ("encoder", 2)]
    squares, positions, padding = 0.0, 0, masked_lm.criterion.padding_idx
    for batch in masked_lm.batches:
        with torch.no_grad():
            *_, out = masked_lm.model.encoder(**batch["net_input"], return_all_hiddens=True)["encoder_states"]
        kept = batch["net_input"]["src_tokens"].ne(padding)
        assert not kept.all(), "there is padding to leave out"
        squares += float(out.transpose(0, 1)[kept].pow(2).sum()) / WIDTH
        positions += int(kept.sum())
    assert rows[-1]["output"] == pytest.approx(squares / positions, rel=1e-5)
