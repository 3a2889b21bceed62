"""A vocabulary and a batch for tests of models; registrations that end with the test."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from fairseq import models, optim
from fairseq.data import Dictionary

from lnexp.plugin.model import PLACEMENTS

#: Where models, placements and optimizers are registered.
REGISTRIES = [
    PLACEMENTS,
    models.MODEL_REGISTRY,
    models.MODEL_DATACLASS_REGISTRY,
    models.ARCH_MODEL_REGISTRY,
    models.ARCH_MODEL_NAME_REGISTRY,
    models.ARCH_MODEL_INV_REGISTRY,
    models.ARCH_CONFIG_REGISTRY,
    optim.OPTIMIZER_REGISTRY,
    optim.OPTIMIZER_DATACLASS_REGISTRY,
]


@pytest.fixture
def registering() -> Iterator[None]:
    """What a test registers with fairseq is forgotten after it: other tests go through all that is registered."""
    before = [dict(registry) for registry in REGISTRIES]
    yield
    for registry, known in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.fixture(scope="session")
def task() -> SimpleNamespace:
    """What a model needs of a task: two dictionaries of sixty words."""
    dictionary = Dictionary()
    for index in range(60):
        dictionary.add_symbol(f"w{index}")
    return SimpleNamespace(source_dictionary=dictionary, target_dictionary=dictionary)


@pytest.fixture(scope="session")
def batch(task) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Five sources with padding on the left, as in training, their lengths, and five targets with some on the right."""
    torch.manual_seed(0)
    source = torch.randint(4, 60, (5, 7))
    source[0, :3] = task.source_dictionary.pad()
    target = torch.randint(4, 60, (5, 6))
    target[1, 4:] = task.target_dictionary.pad()
    return source, (source != task.source_dictionary.pad()).sum(1), target


@pytest.fixture(scope="session")
def net_input(batch) -> dict[str, torch.Tensor]:
    """The batch as fairseq calls a model with it, by name."""
    return dict(zip(("src_tokens", "src_lengths", "prev_output_tokens"), batch, strict=True))
