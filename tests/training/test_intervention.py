"""An intervention is the same alone, in an array and after a resume, and refuses what it cannot have."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
import torch
from fairseq.dataclass import ChoiceEnum
from helpers import recorded_by
from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.training.engine import Engine
from lnexp.training.intervention import INTERVENTIONS, _options, weights_of

pytestmark = pytest.mark.slow
FAST = ("lr_max=1e-2", "warmup_updates=1", "model.decoder_layers=2")
CHOSEN = ("late_updates", "layer_rates", "normalised_gradients", "clipped_changes")


def parameters(engine: Engine) -> dict[str, torch.Tensor]:
    return {name: one.detach() for name, one in engine.model.named_parameters()}


def test_there_are_those_that_are_tested_here():
    assert sorted(INTERVENTIONS) == sorted(CHOSEN)


@pytest.mark.parametrize("name", CHOSEN)
def test_each_changes_the_training(build, name):
    short = (*FAST, "max_epoch=1")
    plain, changed = build(short), build((*short, f"intervention={name}"), name=name)
    for engine in (plain, changed):
        engine.train()
    assert recorded_by(plain)[0] != recorded_by(changed)[0]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_member_of_an_array_is_trained_as_a_run_of_its_own(build, name):
    both = [(*FAST, f"intervention={name}", f"seed={seed}", f"lr_max={rate}") for seed, rate in ((1, 1e-2), (2, 3e-3))]
    together = build(*both, name="array", array=True)
    together.train()
    for number, own in enumerate(both):
        alone = build(own, name=f"alone{number}")
        alone.train()
        mine, losses = recorded_by(alone), [record["train_loss"] for record in together.members[number].folder.epochs()]
        assert losses == pytest.approx([record["train_loss"] for record in records.of_kind("epoch", mine)], rel=1e-3)


@pytest.mark.parametrize("array", [False, True])
def test_updates_are_counted_from_one(build, array):
    """Frozen for two updates, all weights change with the third."""
    late = ("intervention=late_updates", "intervention.part=all", "intervention.form=frozen", "intervention.updates=2")
    engine = build((*FAST, *late, "max_update=4"), array=array)
    states = [{name: one.clone() for name, one in parameters(engine).items()}]
    engine.trainer.after_update.append(
        lambda: states.append({name: one.clone() for name, one in parameters(engine).items()})
    )
    engine.train()
    changed = [
        any(not torch.equal(one, after[name]) for name, one in before.items()) for before, after in pairwise(states)
    ]
    assert changed == [False, False, True, True]


def test_a_resumed_run_is_an_undisturbed_one(build):
    options = (*FAST, "intervention=late_updates", "intervention.updates=100")
    whole, part = build(options, name="whole"), build((*options, "max_epoch=1"), name="part")
    for engine in (whole, part):
        engine.train()
    rest = build(options, name="part")
    rest.train()
    assert recorded_by(rest) == recorded_by(whole)
    for name, one in parameters(whole).items():
        assert torch.equal(one, parameters(rest)[name]), name


def test_weights_know_their_layers_and_tied_ones_are_there_once(build):
    engine = build(("model.encoder_layers=1", "model.decoder_layers=2"))
    weights = weights_of(engine.model, stacked=False)
    assert len(weights) == len(list(engine.model.parameters()))
    assert {(weight.side, weight.layer, weight.layers) for weight in weights} == {
        ("encoder", 1, 1),
        ("decoder", 1, 2),
        ("decoder", 2, 2),
        (None, 0, 0),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("intervention=late_updates", "intervention.part=middle"), "intervention.part=middle: must be one of"),
        (("intervention=late_updates", "intervention.updates=0"), "intervention.updates=0: must be a whole number"),
        (("intervention=clipped_changes", "intervention.most=0"), "intervention.most=0: must be above 0"),
        (("intervention=clipped_changes", "intervention.most=null"), "intervention.most=None: must be a number"),
        (("intervention=clipped_changes", "intervention.most=a"), "intervention.most=a: must be a number"),
        (("intervention={_name: clipped_changes}",), "intervention.most: not set"),
        (("intervention=layer_rates", "intervention.decoder=-1"), "intervention.decoder=-1: must be above 0"),
        (("intervention=layer_rates", "+intervention.decodr=1"), "intervention.decodr: layer_rates has no such option"),
        (("intervention._name=late_update",), "intervention=late_update: there is none"),
        (("intervention=clipped_changes", "precision=bf16"), "a single run has it in fp32 alone"),
    ],
)
def test_what_cannot_be_meant_is_refused(build, options, message):
    with pytest.raises(UserError, match=message):
        build(options)


@dataclass
class OwnOptions:
    shares: list[float]
    form: ChoiceEnum(["one", "two"]) = "one"  # type: ignore[valid-type]
    steps: int = 3


def test_options_of_other_types_are_the_interventions_own_matter():
    given = {"shares": OmegaConf.create([0.5, 1]), "form": "two"}
    assert _options(OwnOptions, given) == OwnOptions([0.5, 1], "two")
    with pytest.raises(UserError, match=r"intervention\.steps=True: must be a whole number"):
        _options(OwnOptions, given | {"steps": True})
