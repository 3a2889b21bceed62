"""A vocabulary and a batch for tests of models."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take only the tests of one placement where ``make test-placement`` names it."""
    if not (name := os.environ.get("PLACEMENT")):
        return
    others = [item for item in items if Path(__file__).parent in item.path.parents and not _is_of(item, name)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def _is_of(item: pytest.Item, placement: str) -> bool:
    """Return whether a test goes through placements and this is its turn of that one, and of none with a like name."""
    chosen = getattr(item, "callspec", None)
    return chosen is not None and placement in chosen.params.values()


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
