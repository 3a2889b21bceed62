"""What every placement must do, and what its own paper says of it at initialisation."""

import math

import pytest
import small_models
import torch
from small_models import scores_both_ways
from torch import nn
from torch.nn import functional

from lnexp.plugin.initialisation import INITIALISATIONS
from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.norm import NORMS
from lnexp.plugin.placement import Block, Where
from lnexp.plugin.scale import Scale

#: A layer that a placement may be in.
LAYER = Where("encoder", 1, 2, 3, width=8)
#: Updates after which what changes along training is neither as at first nor as at last.
HALFWAY = 400
#: Every placement with every kind of norm that it can have.
WITH_NORMS = [
    (name, norm)
    for name, placement in PLACEMENTS.items()
    for norm in (NORMS if placement.at(LAYER, {}).block_norms else ["layer_norm"])
]


def model_of(placement: str, task, layers=(2, 3), first_batch=None, **options):
    model = small_models.model_of(placement, task, layers=layers, **options)
    if first_batch is not None:
        model.see_first_batch(**first_batch)
    return model


def disturb(model):
    """As after some training: nothing is 0 or 1 any more."""
    model.set_num_updates(HALFWAY)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize(("placement", "norm"), WITH_NORMS)
def test_incremental_decoding_equals_full_decoding(placement, norm, task, batch):
    model = disturb(model_of(placement, task, norm=norm))
    torch.testing.assert_close(*scores_both_ways(model, task, batch), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_a_checkpoint_has_all_of_it(placement, task, batch, net_input):
    model = disturb(model_of(placement, task, first_batch=net_input))
    other = model_of(placement, task)
    other.load_state_dict(model.state_dict(), strict=True)
    assert torch.equal(other(*batch)[0], model(*batch)[0])
    other.train()(*batch)  # a first batch changes nothing any more
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("placement", "norm"), WITH_NORMS)
def test_half_precision_is_finite_and_trains_every_parameter(placement, norm, dtype, task, batch, net_input):
    model = disturb(model_of(placement, task, first_batch=net_input, norm=norm)).to(dtype).train()
    model(*batch)[0].float().logsumexp(-1).mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_words_of_length_one_are_finite_in_half_precision(dtype, task, batch):
    model = model_of("pre_ln", task, norm="scale_norm", fix_norm=True).to(dtype).train()
    model(*batch)[0].float().logsumexp(-1).mean().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_half_precision_without_our_task_is_refused_where_a_placement_looks_first(task, batch):
    with pytest.raises(RuntimeError, match="Admin trains in half precision with a task of lnexp's alone"):
        model_of("admin", task).to(torch.bfloat16).train()(*batch)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_positions_do_not_see_each_other_but_by_attention(placement, task, batch):
    """What is padding in a batch changes nothing: each sentence alone gives the same."""
    model = disturb(model_of(placement, task))
    source, lengths, target = batch
    pad = task.source_dictionary.pad()
    with torch.no_grad():
        together = model(*batch)[0]
        for row in range(len(source)):
            kept = target[row].ne(pad)
            alone = model(
                source[row : row + 1, source[row].ne(pad)], lengths[row : row + 1], target[row : row + 1, kept]
            )
            torch.testing.assert_close(together[row, kept], alone[0][0], rtol=1e-4, atol=1e-4)


def count(placement, task):
    return sum(parameter.numel() for parameter in model_of(placement, task).parameters())


def test_parameters_are_as_many_as_the_papers_say(task):
    post, pre = count("post_ln", task), count("pre_ln", task)
    assert pre == post + 2 * 2 * 32, "a LayerNorm more a stack"
    assert count("deep_norm", task) == count("b2t", task) == count("branch_norm", task) == post
    assert count("residual", task) == count("reordered_norm", task) == count("layer_norm_scaling", task) == pre
    assert count("pre_to_post", task) == count("prores", task) == pre
    assert count("mix_ln", task) == pre, "its last layers are Pre-LN"
    blocks = 2 * 2 + 3 * 3
    assert count("admin", task) == post + blocks * 32
    assert count("peri_ln", task) == pre + blocks * 2 * 32
    assert count("sub_ln", task) == pre + (2 + 3) * 2 * 64 + (2 + 3) * 2 * 32
    assert count("rezero", task) == post - blocks * 2 * 32 + 5
    assert count("keel", task) == post + (blocks - 2) * 2 * 32, "the first block of a stack has no second one"
    attentions = 2 + 2 * 3
    assert count("hybrid_norm", task) == pre - attentions * 2 * 32 + attentions * 3 * 2 * 8, "of 8 channels a head"


def test_rezero_has_nothing_that_could_be_of_another_kind(task):
    with pytest.raises(ValueError, match="norm=rms_norm: ReZero normalises nothing"):
        model_of("rezero", task, norm="rms_norm")


@torch.no_grad()
def test_rezero_begins_as_the_identity(task, batch):
    model = model_of("rezero", task)
    source, lengths, _ = batch
    encoded = model.encoder(source, lengths)
    (padding,) = encoded["encoder_padding_mask"]
    embedded, _ = model.encoder.forward_embedding(source)
    embedded = embedded.masked_fill(padding.unsqueeze(-1), 0)  # as fairseq does before the layers
    assert torch.equal(encoded["encoder_out"][0], embedded.transpose(0, 1))


@pytest.mark.parametrize(
    ("layers", "encoder", "decoder"),
    [
        # 0.81 (N⁴M)^(1/16), 0.87 (N⁴M)^(−1/16); (3M)^(1/4), (12M)^(−1/4); worked out with bc
        ((6, 6), (1.417938, 0.496989), (2.059767, 0.343295)),
        ((18, 18), (1.998746, 0.352571), (2.710806, 0.260847)),
        ((100, 100), (3.415742, 0.206310), (4.161791, 0.169904)),
    ],
)
def test_deep_norms_constants(layers, encoder, decoder):
    for side, expected in (("encoder", encoder), ("decoder", decoder)):
        placement = PLACEMENTS["deep_norm"].at(Where(side, 1, *layers, width=8), {})
        assert (placement.alpha, placement.beta) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize("constants", ["paper", "torchscale"])
def test_constants_of_a_stack_alone(side, constants):
    """Of 12 layers: Figure 2 of DeepNet, (2N)^(1/4) and (8N)^(-1/4), and section 3.2 of Foundation Transformers."""
    where = Where(side, 1, *((12, 0) if side == "encoder" else (0, 12)), width=8)
    deep = PLACEMENTS["deep_norm"].at(where, {"deep_norm_constants": constants})
    assert (deep.alpha, deep.beta) == pytest.approx((2.213364, 0.319472), abs=1e-6)
    assert PLACEMENTS["sub_ln"].at(where, {}).gamma == pytest.approx(1.782710, abs=1e-6)


def test_deep_norms_code_has_another_constant_for_the_encoder_alone():
    # weights divided by (N⁴M)^(1/16) / 1.15, for 6-6 layers
    options = {"deep_norm_constants": "torchscale"}
    for side, expected in (("encoder", 0.656940), ("decoder", 0.343295)):
        placement = PLACEMENTS["deep_norm"].at(Where(side, 1, 6, 6, width=8), options)
        assert placement.beta == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("placement", ["admin", "b2t", "deep_norm", "rezero"])
def test_what_a_placements_paper_states_holds_on_every_base(placement, task):
    on_paper, on_fairseq = (model_of(placement, task, init=init) for init in INITIALISATIONS)
    for name, parameter in on_paper.named_parameters():
        assert torch.equal(parameter, on_fairseq.get_parameter(name)), name


@pytest.mark.parametrize("init", INITIALISATIONS)
def test_deep_norm_makes_some_weights_smaller_than_gaussian_xavier(init, task):
    post, deep = (
        model_of(name, task, width=64, init=base) for name, base in (("post_ln", "paper"), ("deep_norm", init))
    )
    for side in ("encoder", "decoder"):
        layers = zip(getattr(post, side).layers, getattr(deep, side).layers, strict=True)
        for one, other in layers:
            beta = other.placement.beta
            for name, parameter in one.named_parameters():
                smaller = name.split(".")[-2] in ("fc1", "fc2", "v_proj", "out_proj") and name.endswith("weight")
                torch.testing.assert_close(other.get_parameter(name), parameter * (beta if smaller else 1))


def variances(model, batch, side="encoder"):
    """Of what each layer gives out."""
    seen = []
    for layer in getattr(model, side).layers:
        layer.register_forward_hook(lambda _, __, out: seen.append((out[0] if isinstance(out, tuple) else out).var()))
    with torch.no_grad():
        model(*batch)
    return torch.stack(seen)


@pytest.mark.parametrize("placement", ["peri_ln", "reordered_norm"])
def test_a_normalised_output_adds_one_to_the_variance_with_every_block(placement, task, batch):
    found = variances(model_of(placement, task, layers=(24, 12), width=256), batch)
    steps = found.diff()
    assert steps.mean() == pytest.approx(2, rel=0.1), "two blocks a layer"
    pre = variances(model_of("pre_ln", task, layers=(24, 12), width=256), batch)
    assert pre.diff().mean() != pytest.approx(2, rel=0.1), "not so for Pre-LN"
    decoder = variances(model_of(placement, task, layers=(2, 24), width=256), batch, "decoder")
    assert decoder.diff().mean() == pytest.approx(3, rel=0.2)


def block_of(number=0):
    """A block whose parts can be told apart: its sublayer multiplies by 3, its norm adds 1."""
    return Block(number, sublayer=lambda x: 3 * x, norm=lambda x: x + 1)


def test_reordered_norm_normalises_what_the_sublayer_gives_and_not_what_it_takes():
    assert PLACEMENTS["reordered_norm"].at(LAYER, {}).connect(torch.tensor(5.0), block_of()) == 5 + (3 * 5 + 1)


@pytest.mark.parametrize("number", [1, 4, 9])
def test_layer_norm_scaling_divides_what_is_normalised_by_the_root_of_the_layers_number(number):
    placement = PLACEMENTS["layer_norm_scaling"].at(Where("encoder", number, 9, 9, width=8), {})
    found = placement.connect(torch.tensor(5.0), block_of())
    torch.testing.assert_close(found, torch.tensor(5 + 3 * (5 + 1) / math.sqrt(number)))


def test_layer_norm_scaling_keeps_the_variance_below_pre_lns(task, batch):
    """Sun et al. 2025, section 4: with it the variance grows slower with depth. At initialisation a layer's part is a
    fraction 1/l of Pre-LN's, so it grows about as the harmonic numbers do."""
    pre, scaled = (
        variances(model_of(name, task, layers=(24, 2), width=256), batch) for name in ("pre_ln", "layer_norm_scaling")
    )
    torch.testing.assert_close(scaled[0], pre[0])
    steps, of_pre = scaled.diff(), pre.diff()
    assert steps[-8:].mean() < 0.15 * of_pre[-8:].mean()
    harmonic = torch.tensor([1 / number for number in range(2, len(scaled) + 1)])
    assert (steps.sum() / of_pre.mean() / harmonic.sum()).item() == pytest.approx(1, rel=0.35)


@pytest.mark.parametrize(("alpha", "post"), [(0, 0), (0.25, 2), (0.3, 2), (0.5, 4), (1, 8)])
def test_mix_ln_is_post_ln_in_the_first_layers_and_pre_ln_in_the_others(alpha, post):
    layers = [
        PLACEMENTS["mix_ln"].at(Where("decoder", number, 3, 8, width=8), {"mix_ln_alpha": alpha})
        for number in range(1, 9)
    ]
    found = [type(layer).__name__ for layer in layers]
    assert found == ["PostLN"] * post + ["PreLN"] * (8 - post)
    assert layers[-1].final_norm == (post < 8)


def test_mix_ln_refuses_what_is_no_share():
    with pytest.raises(ValueError, match=r"mix_ln_alpha=1.5: must be from 0 to 1"):
        PLACEMENTS["mix_ln"].at(LAYER, {"mix_ln_alpha": 1.5})


@torch.no_grad()
def test_b2t_adds_the_layers_input_before_the_last_norm_alone(task):
    layer = disturb(model_of("b2t", task)).encoder.layers[0]
    x = torch.randn(7, 2, 32)
    attended = layer.self_attn_layer_norm(x + layer.self_attn(x, x, x)[0])
    inside = layer.fc2(layer.fc1(attended).relu())
    expected = layer.final_layer_norm(x + attended + inside)
    torch.testing.assert_close(layer(x, None), expected)


@pytest.mark.parametrize("init", INITIALISATIONS)
def test_b2t_starts_with_smaller_matrices_than_fairseq(init, task):
    post, b2t = (
        model_of(name, task, layers=(4, 9), init=base) for name, base in (("post_ln", "fairseq"), ("b2t", init))
    )
    for side, factor in (("encoder", 1 / 2), ("decoder", 1 / 3)):
        one, other = getattr(post, side).layers[1], getattr(b2t, side).layers[1]
        for name, parameter in one.named_parameters():
            torch.testing.assert_close(
                other.get_parameter(name), parameter * (factor if name.endswith("weight") and "norm" not in name else 1)
            )


@torch.no_grad()
def test_residuals_streams(task):
    encoder = disturb(model_of("residual", task)).encoder
    embedded = torch.randn(7, 2, 32)
    x = dual = embedded
    for layer in encoder.layers:
        for block, norm in (
            (lambda q, layer=layer: layer.self_attn(q, q, q)[0], layer.self_attn_layer_norm),
            (layer.feed_forward, layer.final_layer_norm),
        ):
            y = block(x)
            x, dual = norm(x + y), dual + y
    streams = embedded
    for layer in encoder.layers:
        streams = layer(streams, None)
    torch.testing.assert_close(encoder.layer_norm(streams), x + encoder.layer_norm.norm(dual))


def test_admin_starts_from_the_variances_of_one_pass(task, batch, net_input):
    model = model_of("admin", task, layers=(6, 6), first_batch=net_input)
    seen, kept = [], batch[0].ne(task.source_dictionary.pad()).t()
    for layer in model.encoder.layers:
        for norm in (layer.self_attn_layer_norm, layer.final_layer_norm):
            norm.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][kept].var(correction=0)))
    with torch.no_grad():
        model(*batch)
    omegas = [omega.weight for layer in model.encoder.layers for omega in layer.placement.omega]
    assert omegas[0].eq(1).all()
    for omega, variance in zip(omegas[1:], seen, strict=False):
        assert omega.eq(omega[0]).all()
        # Var[ωx] + Var[F(x)] is that of their sum, but for what the two have in common
        assert float(omega[0] ** 2) == pytest.approx(float(variance), rel=0.3)
    starts = [float(omega[0]) for omega in omegas]
    assert starts == sorted(starts), "each counts what was added before it"


def linears(layer):
    """The linear maps of a layer by their dotted names."""
    return {name: module for name, module in layer.named_modules() if isinstance(module, nn.Linear)}


def test_admin_starts_from_uniform_xavier_with_zero_biases(task):
    model = model_of("admin", task, width=256)
    for layer in (model.encoder.layers[0], model.decoder.layers[0]):
        for name, linear in linears(layer).items():
            gain = 0.5**0.5 if name.endswith(("q_proj", "k_proj", "v_proj")) else 1
            bound = gain * math.sqrt(6 / (linear.in_features + linear.out_features))
            assert linear.weight.abs().max().item() == pytest.approx(bound, rel=1e-3), name
            assert linear.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02), name
            assert linear.bias.eq(0).all(), name


def test_rezero_starts_as_torchs_transformer_does(task):
    """Its authors' layers are built into one, whose weights are drawn afresh."""
    ours = linears(model_of("rezero", task, width=256).decoder.layers[0])
    theirs = nn.Transformer(256, 4, 1, 1, dim_feedforward=512).decoder.layers[0]
    attention = theirs.self_attn
    expected = {
        "self_attn.q_proj": (attention.in_proj_weight[:256], attention.in_proj_bias[:256]),
        "self_attn.v_proj": (attention.in_proj_weight[512:], attention.in_proj_bias[512:]),
        "self_attn.out_proj": (attention.out_proj.weight, attention.out_proj.bias),
        "encoder_attn.k_proj": (theirs.multihead_attn.in_proj_weight[256:512], attention.in_proj_bias[256:512]),
        "fc1": (theirs.linear1.weight, theirs.linear1.bias),
        "fc2": (theirs.linear2.weight, theirs.linear2.bias),
    }
    for name, (weight, bias) in expected.items():
        assert ours[name].weight.abs().max().item() == pytest.approx(weight.abs().max().item(), rel=1e-3), name
        assert ours[name].weight.std().item() == pytest.approx(weight.std().item(), rel=0.02), name
        assert ours[name].bias.abs().max().item() == pytest.approx(bias.abs().max().item(), rel=0.05), name


def test_admin_looks_at_the_first_training_batch_by_itself(task, batch, net_input):
    model, expected = model_of("admin", task), model_of("admin", task, first_batch=net_input)
    model(*batch)
    assert not model.encoder.layers[0].placement.profiled, "not in translation"
    model.train()(*batch)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, expected.get_parameter(name)), name


@pytest.mark.parametrize(
    ("layers", "encoder", "decoder"),
    # √(ln(3M) ln(2N) / 3), √ln(3M); worked out with bc
    [((6, 6), 1.547288, 1.700109), ((18, 18), 2.182857, 1.997244), ((100, 100), 3.173875, 2.388259)],
)
def test_sub_lns_constants(layers, encoder, decoder):
    for side, expected in (("encoder", encoder), ("decoder", decoder)):
        assert PLACEMENTS["sub_ln"].at(Where(side, 1, *layers, width=8), {}).gamma == pytest.approx(expected, abs=1e-6)


def test_sub_ln_makes_some_weights_larger(task):
    pre, sub = (model_of(name, task, width=64, init="paper") for name in ("pre_ln", "sub_ln"))
    for side in ("encoder", "decoder"):
        for one, other in zip(getattr(pre, side).layers, getattr(sub, side).layers, strict=True):
            gamma = other.placement.gamma
            for name, parameter in one.named_parameters():
                where = name.replace("self_attn.out_proj.", "self_attn.out_proj.1.")  # behind the LayerNorm
                larger = name.endswith(("fc1.weight", "fc2.weight", "v_proj.weight", "out_proj.weight"))
                expected = gamma if larger and not name.startswith("encoder_attn") else 1
                torch.testing.assert_close(other.get_parameter(where), parameter * expected)


@torch.no_grad()
def test_sub_ln_normalises_within_sublayers(task):
    layer = disturb(model_of("sub_ln", task)).encoder.layers[0]
    x = torch.randn(7, 2, 32)
    attention = layer.self_attn
    normal = layer.self_attn_layer_norm(x)
    q, k, v = (
        project(normal).view(7, 2, 4, 8).permute(1, 2, 0, 3)
        for project in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    heads = functional.scaled_dot_product_attention(q, k, v).permute(2, 0, 1, 3).reshape(7, 2, 32)
    norm, projection = attention.out_proj
    y = x + projection(norm(heads))
    expected = y + layer.fc2(layer.inner_norm(layer.fc1(layer.final_layer_norm(y)).relu()))
    torch.testing.assert_close(layer(x, None), expected)


def attended_by_heads(attention, x):
    """Attention of ``x`` to itself with queries, keys and values normalised in each of the four heads."""
    q, k, v = (
        functional.layer_norm(
            functional.linear(x, part.weight, part.bias).view(7, 2, 4, 8), [8], part.norm.weight, part.norm.bias
        ).permute(1, 2, 0, 3)
        for part in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    return attention.out_proj(functional.scaled_dot_product_attention(q, k, v).permute(2, 0, 1, 3).reshape(7, 2, 32))


@pytest.mark.parametrize("first_pre_ln", [False, True])
@torch.no_grad()
def test_hybrid_norms_layers(first_pre_ln, task):
    model = disturb(model_of("hybrid_norm", task, hybrid_norm_first_pre_ln=first_pre_ln))
    x = torch.randn(7, 2, 32)
    for number, layer in enumerate(model.encoder.layers):
        if first_pre_ln and number == 0:  # eq. 7
            y = x + attended_by_heads(layer.self_attn, layer.self_attn_layer_norm(x))
            expected = y + layer.feed_forward(layer.final_layer_norm(y))
        else:  # eq. 6
            y = layer.final_layer_norm(x + attended_by_heads(layer.self_attn, x))
            expected = y + layer.feed_forward(y)
        torch.testing.assert_close(layer(x, None), expected)


@pytest.mark.parametrize(("placement", "scaled"), [("hybrid_norm", "qkv"), ("pre_ln", "v")])
def test_hybrid_norm_decouples_attentions_weights(placement, scaled, task):
    """Zhuo et al. 2025, theorem 1: with normalised queries, keys and values the gradient of W^O does not grow with
    their weights; in Pre-LN it grows with W^V."""
    gradients = []
    for factor in (1, 3):
        layer = model_of(placement, task, width=64).encoder.layers[0]
        for name in scaled:
            getattr(layer.self_attn, f"{name}_proj").weight.data.mul_(factor)
        torch.manual_seed(2)
        layer.self_attn(*[torch.randn(7, 2, 64)] * 3, need_weights=False)[0].pow(2).sum().backward()
        gradients.append(layer.self_attn.out_proj.weight.grad)
    grown = gradients[1].norm() / gradients[0].norm()  # of the square of what is linear in W^V
    assert grown.item() == pytest.approx(1 if placement == "hybrid_norm" else 9, rel=0.01)


@pytest.mark.parametrize(("options", "alpha"), [({}, {"encoder": 8, "decoder": 9}), ({"keel_alpha": 2.5}, 2.5)])
def test_keels_weight_is_the_number_of_blocks_but_in_the_first_layer(options, alpha):
    for side in ("encoder", "decoder"):
        stack = [PLACEMENTS["keel"].at(Where(side, number, 4, 3, width=8), options) for number in (1, 2, 3)]
        expected = alpha[side] if isinstance(alpha, dict) else alpha
        assert [layer.alpha for layer in stack] == [1, expected, expected]
        bare = [[isinstance(norm, nn.Identity) for norm in layer.after] for layer in stack]
        assert bare == [[True, *[False] * (stack[0].where.blocks - 1)], *[[False] * stack[0].where.blocks] * 2]


def test_keel_normalises_both_sides_and_weights_the_stream():
    placement = PLACEMENTS["keel"].at(Where("encoder", 2, 3, 3, width=8), {})
    placement.after[1] = Scale(1, 0.5)
    assert placement.connect(torch.tensor(5.0), block_of(1)) == 0.5 * (6 * 5 + 3 * (5 + 1))


def gradient_along_the_stream(placement: str, layers: int) -> float:
    """The share of a gradient's norm that reaches a stack's input along the residual stream alone: its sublayers give
    out noise of variance 1, as a sublayer over a normalised input does at first."""
    width = 256
    x = torch.randn(64, 1, width, requires_grad=True)
    y = x
    for number in range(1, layers + 1):
        where = Where("encoder", number, layers, layers, width)
        blocks = [Block(number, torch.randn_like, nn.LayerNorm(width)) for number in range(where.blocks)]
        y = PLACEMENTS[placement].at(where, {})(y, blocks)
    upstream = torch.randn_like(y)
    y.backward(upstream)
    return float(x.grad.norm() / upstream.norm())


@pytest.mark.parametrize("layers", [4, 16])
def test_keel_keeps_the_gradient_that_post_ln_loses_with_depth(layers):
    """Chen & Wei 2026, eq. 15: Post-LN has (1/2)^(L/2) of it after L blocks; eq. 18 and 19: in KEEL a block with α = L
    keeps α/√(α² + 1), all of them together nearly everything. Its second block has α = 1 and an input of variance 2."""
    blocks = 2 * layers
    assert gradient_along_the_stream("post_ln", layers) == pytest.approx(2 ** (-blocks / 2), rel=0.1)
    expected = 3**-0.5 * (1 + blocks**-2) ** (-(blocks - 2) / 2)
    assert gradient_along_the_stream("keel", layers) == pytest.approx(expected, rel=0.1)


def with_parameters_of(model, other):
    """A model with the parameters of another, whose names it has, but for that of a final norm which fades."""
    parameters = {name.replace(".layer_norm.norm.", ".layer_norm."): value for name, value in other.named_parameters()}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(parameters[name])
    return model


@torch.no_grad()
def test_branch_norm_begins_without_branches_and_becomes_post_ln(task, batch):
    """Liu et al. 2023: smooth gradients at first, Post-LN at last; between the two a branch's weight is linear."""
    branch = disturb(model_of("branch_norm", task, branch_norm_updates=10))
    post = with_parameters_of(model_of("post_ln", task), branch)
    branch.set_num_updates(12)
    assert torch.equal(branch(*batch)[0], post(*batch)[0])
    layer, x = branch.encoder.layers[0], torch.randn(7, 2, 32)
    for updates, share in ((0, 0.0), (4, 0.4), (10, 1.0)):
        branch.set_num_updates(updates)
        y = layer.self_attn_layer_norm(x + share * layer.self_attn(x, x, x)[0])
        torch.testing.assert_close(layer(x, None), layer.final_layer_norm(y + share * layer.feed_forward(y)))


@torch.no_grad()
def test_pre_to_post_is_pre_ln_at_first_and_post_ln_at_last(task, batch):
    model = disturb(model_of("pre_to_post", task, pre_to_post_updates=10))
    outputs = []
    for updates in (0, 5, 10, 11):
        model.set_num_updates(updates)
        outputs.append(model(*batch)[0])
    first, between, *last = outputs
    assert torch.equal(first, with_parameters_of(model_of("pre_ln", task), model)(*batch)[0])
    assert all(torch.equal(each, with_parameters_of(model_of("post_ln", task), model)(*batch)[0]) for each in last)
    assert not torch.equal(between, first)
    assert not torch.equal(between, last[0])


@torch.no_grad()
def test_prores_lets_one_layer_after_another_grow_and_becomes_pre_ln(task, batch):
    """Chen et al. 2026, principle 1: the identity at first; eq. 3: layer l is whole after T·l updates."""
    model = disturb(model_of("prores", task, layers=(3, 2), prores_updates=10))
    whole = with_parameters_of(model_of("pre_ln", task, layers=(3, 2)), model)
    x = torch.randn(7, 2, 32)
    for updates, shares in ((0, (0, 0, 0)), (6, (0.6, 0.3, 0.2)), (20, (1, 1, 2 / 3)), (30, (1, 1, 1))):
        model.set_num_updates(updates)
        for share, layer, full in zip(shares, model.encoder.layers, whole.encoder.layers, strict=True):
            y = x + share * (full.self_attn(*[full.self_attn_layer_norm(x)] * 3)[0])
            expected = y + share * full.feed_forward(full.final_layer_norm(y))
            torch.testing.assert_close(layer(x, None), expected)
    assert torch.equal(model(*batch)[0], whole(*batch)[0])


@pytest.mark.parametrize("placement", ["branch_norm", "pre_to_post", "prores"])
def test_a_placement_refuses_to_change_within_no_update(placement):
    with pytest.raises(ValueError, match=f"{placement}_updates=0: must be at least 1"):
        PLACEMENTS[placement].at(LAYER, {f"{placement}_updates": 0})


def test_the_variance_of_a_scale_is_that_of_all_numbers_kept():
    x = torch.randn(3, 4, 5)
    kept = torch.rand(3, 4) < 0.7
    assert Scale(5, 1.0).variance(x, kept) == pytest.approx(float(((x[kept] - x[kept].mean()) ** 2).mean()))
