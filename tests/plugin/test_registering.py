"""Placements with options of their own, by depth, and along training: registered, single and in arrays."""

import re
from argparse import Namespace
from dataclasses import dataclass, fields

import pytest
import small_models
import torch
from fairseq import options as fairseq_options
from fairseq.dataclass import ChoiceEnum
from fairseq.dataclass.utils import override_module_args
from fairseq.models import MODEL_DATACLASS_REGISTRY
from helpers import ROOT
from omegaconf import open_dict
from small_models import CLOSE, SEEDS, assert_array_is_its_members, scores_both_ways

from lnexp.configuration import compose
from lnexp.plugin.model import PLACEMENTS, PlacedModelConfig, register_placement
from lnexp.plugin.placement import Placement, Where, option
from lnexp.plugin.placements.post_ln import PostLN
from lnexp.plugin.placements.pre_ln import PreLN
from lnexp.plugin.updates import ChangesWithUpdates
from lnexp.runs.identity import identity
from lnexp.training.models.array_checkpoints import load_member_model, member_model

#: Placements without options of their own have these fields; their runs' identities are made of them.
FIELDS = [known.name for known in fields(PlacedModelConfig)]

pytestmark = pytest.mark.usefixtures("growing", "mixed")


@dataclass
class GrowingOptions:
    """Options of :class:`Growing`."""

    horizon: int = option(10, "updates T after which the branches are whole")
    form: ChoiceEnum(["linear", "square"]) = option("linear", "how they grow")  # type: ignore[valid-type]
    whole_at_last: bool = option(True, "stop growing at 1")


class Growing(ChangesWithUpdates):
    """``x' = x + t/T F(LN(x))`` after t updates."""

    final_norm = True

    def __init__(self, where: Where, options: GrowingOptions):
        super().__init__(where, options)
        self.horizon, self.power = options.horizon, 2 if str(options.form) == "square" else 1
        self.most = 1 if options.whole_at_last else None

    def connect(self, x, block):
        share = (self.updates / self.horizon).clamp(max=self.most) if self.most else self.updates / self.horizon
        return x + share**self.power * block.sublayer(block.norm(x))


def post_then_pre(where: Where, options: None):
    """The first quarter of a stack is Post-LN, the rest Pre-LN."""
    return (PostLN if where.number <= where.layers / 4 else PreLN)(where, options)


@pytest.fixture
def growing(registering) -> None:
    register_placement("growing", GrowingOptions)(Growing)


@pytest.fixture
def mixed(registering) -> None:
    register_placement("post_then_pre")(post_then_pre)
    register_placement("pre_then_post")(lambda where, _: (PreLN if where.number == 1 else PostLN)(where))


def model_of(placement: str, task, seed: int = 1, **options):
    return small_models.model_of(placement, task, seed, **options).double()


def array_of(placement: str, task, **options):
    return small_models.array_of(placement, task, **options).double()


def test_a_placement_must_say_whether_a_stack_ends_with_a_norm(registering, task):
    class Unsaid(Placement):
        def connect(self, x, block):
            return x + block.sublayer(x)

    register_placement("unsaid")(Unsaid)
    with pytest.raises(ValueError, match="Unsaid does not say whether a stack ends with a norm: set final_norm"):
        model_of("unsaid", task)


def test_a_name_of_another_module_is_refused_and_ones_own_can_be_registered_again(registering):
    register_placement("growing", GrowingOptions)(Growing)
    with pytest.raises(ValueError, match=r"pre_ln is registered already, by .*placements/pre_ln\.py"):
        register_placement("pre_ln")(Growing)


# options


def test_options_become_fields_of_the_model_behind_the_others():
    config = MODEL_DATACLASS_REGISTRY["lnexp_growing"]
    own = {known.name: (known.default, known.metadata["help"]) for known in fields(config)[len(FIELDS) :]}
    assert [known.name for known in fields(config)][: len(FIELDS)] == FIELDS
    assert own == {
        "growing_horizon": (10, "updates T after which the branches are whole"),
        "growing_form": ("linear", "how they grow"),
        "growing_whole_at_last": (True, "stop growing at 1"),
    }


@pytest.mark.parametrize("placement", ["pre_ln", "post_then_pre"])
def test_a_placement_without_options_adds_no_field(placement):
    assert MODEL_DATACLASS_REGISTRY[f"lnexp_{placement}"] is PlacedModelConfig


def test_options_reach_the_placement_of_every_layer(task):
    model = model_of("growing", task, growing_horizon=7, growing_form="square", growing_whole_at_last=False)
    layers = [*model.encoder.layers, *model.decoder.layers]
    assert {(layer.placement.horizon, layer.placement.power, layer.placement.most) for layer in layers} == {
        (7, 2, None)
    }
    assert model_of("growing", task).encoder.layers[0].placement.horizon == 10
    assert array_of("growing", task, growing_horizon=7).encoder.layers[0].placement.horizon == 7


def test_a_misspelt_option_is_refused(task):
    with pytest.raises(Exception, match="growing_horizen"):
        model_of("growing", task, growing_horizen=7)


def arguments(*words: str) -> Namespace:
    """What fairseq-train makes of a command line."""
    parser = fairseq_options.get_training_parser()
    needed = ["data", "--arch", "lnexp_growing", "--task", "lnexp_translation", "--optimizer", "lnexp_adam"]
    return fairseq_options.parse_args_and_arch(parser, [*needed, *words])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"growing_horizon": 10, "growing_form": "'linear'", "growing_whole_at_last": True}),
        (["--growing-horizon", "7", "--growing-form", "square"], {"growing_horizon": 7, "growing_form": "'square'"}),
        (["--no-growing-whole-at-last"], {"growing_whole_at_last": False}),
        ([], {"share_decoder_input_output_embed": True}),
        (["--share-decoder-input-output-embed"], {"share_decoder_input_output_embed": True}),
        (["--no-share-decoder-input-output-embed"], {"share_decoder_input_output_embed": False}),
    ],
)
def test_options_come_from_fairseqs_command_line(words, expected):
    overrides, _ = override_module_args(arguments(*words))
    for name, value in expected.items():
        assert f"model.{name}={value}" in overrides


def test_options_are_part_of_a_runs_identity():
    found = set()
    for value in (None, 7, 8):
        cfg = compose(["model=pre_ln"])
        if value is not None:
            with open_dict(cfg.model):
                cfg.model.growing_horizon = value
        found.add(identity(cfg))
    assert len(found) == 3


# by depth


def test_layers_of_one_model_have_placements_by_their_number(task):
    model = model_of("post_then_pre", task, layers=(4, 4))
    for stack in (model.encoder, model.decoder):
        assert [type(layer.placement) for layer in stack.layers] == [PostLN, PreLN, PreLN, PreLN]
        assert [layer.placement.where.number for layer in stack.layers] == [1, 2, 3, 4]


def test_a_stack_ends_as_its_last_layers_placement_asks(task):
    assert list(model_of("post_then_pre", task).state_dict()) == list(model_of("pre_ln", task).state_dict())
    assert list(model_of("pre_then_post", task).state_dict()) == list(model_of("post_ln", task).state_dict())


@pytest.mark.parametrize("placement", ["post_then_pre", "growing"])
def test_they_train_in_arrays(placement, task, net_input):
    members = [model_of(placement, task, seed).train() for seed in SEEDS]
    array = array_of(placement, task).train()
    for model in (array, *members):
        model.set_num_updates(4)
    assert_array_is_its_members(array, members, net_input, task.target_dictionary.pad())


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_every_placement_joins_a_stack_alone(placement, side):
    layers = (
        {"encoder_layers": 2, "decoder_layers": 0} if side == "encoder" else {"encoder_layers": 0, "decoder_layers": 2}
    )
    where = Where(side, 1, **layers, width=8)
    assert PLACEMENTS[placement].at(where, {}).where is where


# along training


@torch.no_grad()
def test_a_model_changes_with_its_updates(task, net_input):
    model = model_of("growing", task)
    outputs = []
    for updates in (0, 5, 10, 11):
        model.set_num_updates(updates)  # as fairseq's training step does
        outputs.append(model(**net_input)[0])
    assert not torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[1], outputs[2])
    assert torch.equal(outputs[2], outputs[3])
    pre = model_of("pre_ln", task)
    pre.load_state_dict({name: value for name, value in model.state_dict().items() if "updates" not in name})
    torch.testing.assert_close(outputs[2], pre(**net_input)[0])


def test_only_such_a_model_has_the_number_in_its_state(task):
    assert not any("updates" in name for name in model_of("pre_ln", task).state_dict())
    numbers = [value for name, value in model_of("growing", task).state_dict().items() if "updates" in name]
    assert len(numbers) == 4
    assert {value.dtype for value in numbers} == {torch.int64}
    assert model_of("growing", task).half().encoder.layers[0].placement.updates.dtype == torch.int64


@torch.no_grad()
def test_a_loaded_checkpoint_knows_its_updates(task, net_input, tmp_path):
    model = model_of("growing", task)
    model.set_num_updates(6)
    torch.save(model.state_dict(), tmp_path / "checkpoint.pt")
    other = model_of("growing", task, seed=2)
    other.load_state_dict(torch.load(tmp_path / "checkpoint.pt"), strict=True)
    assert torch.equal(other(**net_input)[0], model(**net_input)[0])


def test_incremental_decoding_equals_full_decoding(task, batch):
    model = model_of("growing", task)
    model.set_num_updates(4)
    torch.testing.assert_close(*scores_both_ways(model, task, batch))


class Twice(PreLN):
    """Calls each sublayer twice, which would corrupt the cache of incremental decoding."""

    def connect(self, x, block):
        return x + (block.sublayer(block.norm(x)) + block.sublayer(block.norm(x))) / 2


@pytest.mark.parametrize("made", [model_of, array_of])
def test_a_second_call_of_a_sublayer_is_refused(made, task, net_input):
    register_placement("twice")(Twice)
    with pytest.raises(RuntimeError, match="twice: keep what it returned"):
        made("twice", task)(**net_input)


def test_models_say_whether_they_change_with_updates(task):
    for placement, expected in {"growing": True, "pre_ln": False}.items():
        assert model_of(placement, task).changes_with_updates is expected
        assert array_of(placement, task).changes_with_updates is expected


@torch.no_grad()
def test_members_of_different_epochs_are_right_one_after_another(task, batch, net_input):
    """An array's members share the number of updates: each brings its own when it is loaded."""
    array, states, expected = array_of("growing", task), [], []
    kept = batch[2].ne(task.target_dictionary.pad())
    for number, seed in enumerate(SEEDS):
        array.set_num_updates(3 * number)
        states.append(member_model(array, number))
        member = model_of("growing", task, seed)
        member.load_state_dict(states[-1], strict=True)
        expected.append(member(**net_input, features_only=True)[0][kept])
    for number, state in enumerate(states):
        load_member_model(array, number, state)
        torch.testing.assert_close(array(**net_input)[number, kept], expected[number], **CLOSE)


@torch.no_grad()
def test_the_first_placement_of_extending(registering, task):
    page = (ROOT / "docs" / "extending.md").read_text()
    (block,) = re.findall(
        r"`lnexp/plugin/placements/res_post_norm.py`, all of it:\n\n```python\n(.*?)```", page, re.DOTALL
    )
    exec(block, {"__package__": "lnexp.plugin.placements", "__name__": "lnexp.plugin.placements.res_post_norm"})
    layer = model_of("res_post_norm", task).encoder.layers[0]
    x = torch.randn(7, 2, 32, dtype=torch.float64)
    y = x + layer.self_attn_layer_norm(layer.self_attn(x, x, x)[0])
    torch.testing.assert_close(layer(x, None), y + layer.final_layer_norm(layer.feed_forward(y)))
