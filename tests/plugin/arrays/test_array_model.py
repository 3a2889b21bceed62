"""An array of whole models is its members, whatever their placement."""

import pytest
import torch
from small_models import SEEDS, array_of, assert_array_is_its_members, model_of

from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.norm import NORMS
from lnexp.plugin.placement import RegisteredPlacement, Where
from lnexp.plugin.updates import KnowsUpdates

pytestmark = pytest.mark.slow


def changes_in_time(placement: RegisteredPlacement) -> bool:
    return isinstance(placement.at(Where("encoder", 1, 2, 2, width=8), {}), KnowsUpdates)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_activations_can_be_computed_again(placement, task, net_input):
    kept, again = (
        array_of(placement, task, checkpoint_activations=checkpoint, dropout=0.1).double().train()
        for checkpoint in (False, True)
    )
    for array in (kept, again):
        torch.manual_seed(1)
        array(**net_input).pow(3).sum().backward()
    for (name, one), other in zip(kept.named_parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(other.grad, one.grad, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize(
    ("placement", "norm"),
    [
        (name, norm)
        for name, placement in PLACEMENTS.items()
        for norm in NORMS
        if placement.at(Where("encoder", 1, 2, 2, width=8), {}).block_norms or norm == "layer_norm"
    ],
)
def test_every_placement_and_norm_trains_in_an_array(placement, norm, task, net_input):
    assert_alike_after(400, placement, task, net_input, norm=norm)


@pytest.mark.parametrize("placement", [name for name, one in PLACEMENTS.items() if changes_in_time(one)])
def test_what_changes_in_training_starts_alike_in_an_array(placement, task, net_input):
    assert_alike_after(0, placement, task, net_input)


def assert_alike_after(updates, placement, task, net_input, **options):
    members = [model_of(placement, task, seed, **options).double().train() for seed in SEEDS]
    array = array_of(placement, task, **options).double().train()
    for model in (array, *members):
        model.set_num_updates(updates)
    assert_array_is_its_members(array, members, net_input, task.target_dictionary.pad())
