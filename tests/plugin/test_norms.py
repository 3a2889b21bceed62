"""What normalises, and embeddings of length 1."""

import pytest
import torch
from small_models import model_of
from torch import nn

from lnexp.plugin.norm import NORMS


def test_each_is_its_formula():
    x = torch.randn(5, 3, 16, dtype=torch.float64) + 1
    norms = {name: norm(16).double() for name, norm in NORMS.items()}
    rms = x.pow(2).mean(-1, keepdim=True).sqrt()
    centred = x - x.mean(-1, keepdim=True)
    expected = {
        "layer_norm": centred / centred.pow(2).mean(-1, keepdim=True).sqrt(),
        "rms_norm": x / rms,
        "scale_norm": 4 * x / x.pow(2).sum(-1, keepdim=True).sqrt(),
    }
    assert norms.keys() == expected.keys()
    for name, norm in norms.items():
        torch.testing.assert_close(norm(x), expected[name], rtol=1e-4, atol=1e-5)
        with torch.no_grad():
            norm.weight.mul_(3)
        torch.testing.assert_close(norm(x), 3 * expected[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_a_model_has_one_kind_everywhere(norm, task):
    model = model_of("pre_ln", task, norm=norm)
    kind = type(NORMS[norm](8))
    found = [name for name, module in model.named_modules() if isinstance(module, kind)]
    assert len(found) == 2 * 2 + 2 * 3 + 2
    others = tuple(type(other(8)) for name, other in NORMS.items() if name != norm)
    assert not any(isinstance(module, others) for module in model.modules())


@torch.no_grad()
def test_fix_norm_gives_words_the_length_one(task, batch):
    model = model_of("pre_ln", task, fix_norm=True, share_decoder_input_output_embed=True)
    assert model.decoder.output_projection.weight is model.decoder.embed_tokens.weight
    lengths = model.encoder.embed_tokens(batch[0]).norm(dim=-1)
    torch.testing.assert_close(lengths, batch[0].ne(task.source_dictionary.pad()).float())
    before, _ = model(*batch)
    with torch.no_grad():
        for embedding in (model.encoder.embed_tokens, model.decoder.embed_tokens):
            embedding.weight.mul_(7)
    torch.testing.assert_close(model(*batch)[0], before)
    hidden, _ = model(*batch, features_only=True)
    weight = nn.functional.normalize(model.decoder.embed_tokens.weight, dim=1)
    torch.testing.assert_close(before, hidden @ weight.t())


def test_an_unknown_kind_is_refused(task):
    with pytest.raises(Exception, match="batch_norm"):
        model_of("pre_ln", task, norm="batch_norm")
