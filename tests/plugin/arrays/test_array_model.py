"""An array of whole models is its members, whatever their placement."""

import pytest
import torch
from small_models import SEEDS, array_of, model_of

from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.norm import NORMS
from lnexp.plugin.placement import Where
from lnexp.plugin.updates import set_updates

CLOSE = {"rtol": 1e-4, "atol": 1e-5}  # fairseq's attention without torch's function has a softmax in single precision


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
def test_every_placement_and_norm_trains_in_an_array(placement, norm, task, batch, net_input):
    members = [model_of(placement, task, seed, norm=norm).double().train() for seed in SEEDS]
    array = array_of(placement, task, norm=norm).double().train()
    for model in (array, *members):
        set_updates(model, 400)
    kept = batch[2].ne(task.target_dictionary.pad())  # behind a sentence, an array gives what it likes
    hidden = array(**net_input)[:, kept]
    hidden.pow(3).sum().backward()
    named = dict(array.named_parameters())
    for number, member in enumerate(members):
        expected = member(*batch, features_only=True)[0][kept]
        torch.testing.assert_close(hidden[number], expected, **CLOSE)
        expected.pow(3).sum().backward()
        for name, parameter in member.named_parameters():
            torch.testing.assert_close(named[name][number], parameter, msg=lambda text, name=name: f"{name}: {text}")
            if parameter.grad is not None:
                mine = named[name].grad[number]
                torch.testing.assert_close(mine, parameter.grad, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")
