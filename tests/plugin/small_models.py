"""Small models for tests: alone, in arrays, and decoding word by word."""

from typing import Any

import torch
from fairseq import utils
from fairseq.models import build_model
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401  (registers them)

#: How close numbers are: fairseq's attention without torch's function has a softmax in single precision.
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
#: Of the members of an array.
SEEDS = (3, 4, 5)


def settings_of(placement: str, layers: tuple[int, int] = (2, 2), width: int = 32, **options: Any) -> dict[str, Any]:
    """The options of a model; ``layers`` are those of the encoder and of the decoder."""
    settings = {"_name": f"lnexp_{placement}", "max_source_positions": 50, "max_target_positions": 50, "dropout": 0.0}
    for side, count in zip(("encoder", "decoder"), layers, strict=True):
        settings |= {f"{side}_embed_dim": width, f"{side}_ffn_embed_dim": 2 * width, f"{side}_layers": count}
    return settings | options


def model_of(placement: str, task, seed: int = 1, **options: Any):
    """A model in evaluation mode, initialised with a seed."""
    utils.set_torch_seed(seed)
    return build_model(OmegaConf.create(settings_of(placement, **options)), task).eval()


def array_of(placement: str, task, seeds: tuple[int, ...] = SEEDS, **options: Any):
    """An array of such models, one a seed, in evaluation mode."""
    settings = {"_name": "lnexp_array", "member": settings_of(placement, **options), "seeds": list(seeds)}
    return build_model(OmegaConf.create(settings), task).eval()


def assert_array_is_its_members(array, members, net_input: dict[str, torch.Tensor], pad: int) -> None:
    """Assert that an array has its members' parameters, hidden states and gradients, where a target is no padding."""
    kept = net_input["prev_output_tokens"].ne(pad)  # behind a sentence, an array gives what it likes
    hidden = array(**net_input)[:, kept]
    hidden.pow(3).sum().backward()
    named = dict(array.named_parameters())
    for number, member in enumerate(members):
        expected = member(**net_input, features_only=True)[0][kept]
        torch.testing.assert_close(hidden[number], expected, **CLOSE)
        expected.pow(3).sum().backward()
        for name, parameter in member.named_parameters():
            torch.testing.assert_close(named[name][number], parameter, msg=lambda text, name=name: f"{name}: {text}")
            if parameter.grad is not None:
                mine = named[name].grad[number]
                torch.testing.assert_close(mine, parameter.grad, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")


@torch.no_grad()
def scores_both_ways(model, task, batch) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores of a batch's target words by a decoder that gets them one after another, and all at once."""
    source, lengths, target = batch
    target = torch.where(target == task.target_dictionary.pad(), 5, target)
    encoded = model.encoder(source, lengths)
    whole, _ = model.decoder(target, encoder_out=encoded)
    state: dict = {}
    steps = [
        model.decoder(target[:, : length + 1], encoder_out=encoded, incremental_state=state)[0]
        for length in range(target.size(1))
    ]
    return torch.cat(steps, dim=1), whole
