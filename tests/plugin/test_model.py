"""At equal weights our models are fairseq's ``transformer``."""

from argparse import Namespace
from dataclasses import fields

import pytest
import torch
from fairseq.models import MODEL_DATACLASS_REGISTRY, build_model
from fairseq.models.transformer import TransformerModel, base_architecture
from helpers import ROOT
from omegaconf import OmegaConf
from small_models import scores_both_ways

import lnexp.plugin  # noqa: F401
from lnexp.configuration import compose
from lnexp.plugin.model import PLACEMENTS as REGISTERED

PLACEMENTS = {"post_ln": False, "pre_ln": True}
DEPTHS = [(1, 1), (3, 2), (2, 4)]


def ours(placement: str, task, depths=(2, 2), **options):
    settings = {
        "_name": f"lnexp_{placement}",
        "encoder_embed_dim": 32,
        "decoder_embed_dim": 32,
        "encoder_ffn_embed_dim": 48,
        "decoder_ffn_embed_dim": 40,
        "encoder_layers": depths[0],
        "decoder_layers": depths[1],
        "max_source_positions": 50,
        "max_target_positions": 50,
        **options,
    }
    return build_model(OmegaConf.create(settings), task).eval()


def stock(placement: str, task, depths=(2, 2), share_decoder_input_output_embed=True, **options):
    args = Namespace(
        encoder_embed_dim=32,
        decoder_embed_dim=32,
        encoder_ffn_embed_dim=48,
        decoder_ffn_embed_dim=40,
        encoder_layers=depths[0],
        decoder_layers=depths[1],
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_normalize_before=PLACEMENTS[placement],
        decoder_normalize_before=PLACEMENTS[placement],
        max_source_positions=50,
        max_target_positions=50,
        share_decoder_input_output_embed=share_decoder_input_output_embed,
        **options,
    )
    base_architecture(args)
    return TransformerModel.build_model(args, task).eval()


@pytest.mark.parametrize("depths", DEPTHS)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_outputs_equal_stock_at_equal_weights_both_ways(placement, tied, depths, task, batch):
    mine = ours(placement, task, depths, share_decoder_input_output_embed=tied)
    theirs = stock(placement, task, depths, share_decoder_input_output_embed=tied)
    theirs.load_state_dict(mine.state_dict(), strict=True)
    source, lengths, target = batch
    torch.testing.assert_close(
        mine.encoder(source, lengths)["encoder_out"][0], theirs.encoder(source, lengths)["encoder_out"][0]
    )
    torch.testing.assert_close(mine(*batch)[0], theirs(*batch)[0])
    fresh = stock(placement, task, depths, share_decoder_input_output_embed=tied)
    mine.load_state_dict(fresh.state_dict(), strict=True)
    torch.testing.assert_close(mine(source, lengths, target)[0], fresh(source, lengths, target)[0])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_gradients_equal_stock(placement, task, batch):
    mine, theirs = ours(placement, task), stock(placement, task)
    theirs.load_state_dict(mine.state_dict())
    for model in (mine, theirs):
        model.train()
        for module in model.modules():
            if hasattr(module, "p"):
                module.p = 0.0
        model(*batch)[0].logsumexp(-1).sum().backward()
    expected = dict(theirs.named_parameters())
    for name, parameter in mine.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name].grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_incremental_decoding_equals_full_decoding(placement, task, batch):
    torch.testing.assert_close(*scores_both_ways(ours(placement, task), task, batch), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_only_pre_ln_has_a_final_norm_in_both_stacks(placement, task):
    model = ours(placement, task)
    assert (model.encoder.layer_norm is not None) is PLACEMENTS[placement]
    assert (model.decoder.layer_norm is not None) is PLACEMENTS[placement]


def test_defaults_are_the_papers_iwslt14_model(task):
    model = build_model(
        OmegaConf.create({"_name": "lnexp_pre_ln", "max_source_positions": 50, "max_target_positions": 50}), task
    )
    for stack in (model.encoder, model.decoder):
        assert len(stack.layers) == 6
        layer = stack.layers[0]
        assert layer.self_attn.num_heads == 4
        assert layer.fc1.weight.shape == (1024, 512)
        assert layer.fc2.weight.shape == (512, 1024)


def test_dimensions_from_a_config_arrive_in_the_model(task):
    model = ours("pre_ln", task, depths=(3, 2), encoder_attention_heads=8)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (3, 2)
    assert model.encoder.layers[0].self_attn.num_heads == 8
    assert model.encoder.layers[0].fc1.out_features == 48
    assert model.decoder.layers[0].fc1.out_features == 40
    assert model.decoder.output_projection.weight.shape == (64, 32)


def test_two_models_do_not_share_a_configuration(task):
    narrow, wide = ours("pre_ln", task), ours("pre_ln", task, encoder_ffn_embed_dim=96)
    assert narrow.encoder.layers[0].fc1.out_features == 48
    assert wide.encoder.layers[0].fc1.out_features == 96


def test_paper_initialisation_is_gaussian_xavier_with_zero_biases(task):
    torch.manual_seed(0)
    wide = {"encoder_embed_dim": 256, "decoder_embed_dim": 256, "encoder_ffn_embed_dim": 512}
    model = ours("post_ln", task, init="paper", **wide)
    layer = model.encoder.layers[0]
    for linear in (layer.fc1, layer.fc2, layer.self_attn.q_proj, layer.self_attn.out_proj):
        expected = (2 / (linear.in_features + linear.out_features)) ** 0.5
        assert linear.weight.std().item() == pytest.approx(expected, rel=0.03)
        kurtosis = (linear.weight / linear.weight.std()).pow(4).mean().item()
        assert kurtosis == pytest.approx(3, abs=0.15), "Gaussian, not uniform"
        assert linear.bias.abs().max() == 0
    embedding = model.encoder.embed_tokens.weight[2:]
    assert embedding.std().item() == pytest.approx(256**-0.5, rel=0.05)


def test_fairseq_initialisation_is_fairseqs_own(task):
    torch.manual_seed(3)
    mine = ours("pre_ln", task, init="fairseq")
    torch.manual_seed(3)
    theirs = stock("pre_ln", task)
    expected = theirs.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in mine.state_dict().items())


def test_activation_checkpointing_changes_no_output(task, batch):
    plain, frugal = ours("pre_ln", task), ours("pre_ln", task, checkpoint_activations=True)
    frugal.load_state_dict(plain.state_dict())
    plain.train(), frugal.train()
    for model in (plain, frugal):
        torch.manual_seed(0)
        model(*batch)[0].sum().backward()
    for one, other in zip(plain.parameters(), frugal.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_an_unknown_initialisation_is_refused(task):
    with pytest.raises(Exception, match="init"):
        ours("pre_ln", task, init="zeros")


#: Names of configs that are those of other placements, by name.
ALIASES = {"sandwich_ln": "peri_ln"}


def test_every_placement_file_is_a_model_and_has_a_config():
    files = {path.stem for path in (ROOT / "lnexp" / "plugin" / "placements").glob("[a-z]*.py")}
    models = {name for name in MODEL_DATACLASS_REGISTRY if "lnexp" in name} - {"lnexp_array"}
    assert {f"lnexp_{name}" for name in files} == models
    assert {*files, *ALIASES} == {path.stem for path in (ROOT / "configs" / "model").glob("[a-z]*.yaml")}


@pytest.mark.parametrize(("alias", "placement"), ALIASES.items())
def test_a_placement_with_two_names_is_one_run(alias, placement):
    assert compose([f"model={alias}"]) == compose([f"model={placement}"])


@pytest.mark.parametrize("placement", REGISTERED)
def test_every_option_of_a_placement_stands_in_its_config_with_its_default(placement):
    """Hydra refuses what a config does not list, a misspelt option with it."""
    options = REGISTERED[placement].options
    expected = {f"{placement}_{known.name}": known.default for known in fields(options)} if options else {}
    listed = OmegaConf.to_container(OmegaConf.load(ROOT / "configs" / "model" / f"{placement}.yaml"))
    assert listed == {"defaults": ["_transformer"], "_name": f"lnexp_{placement}"} | expected
