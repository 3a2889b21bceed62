"""Put modules into evaluation mode for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(*modules: nn.Module) -> Iterator[None]:
    """Within the ``with`` block, have modules in evaluation mode, without dropout; each then has the mode it had."""
    training = [module.training for module in modules]
    for module in modules:
        module.eval()
    try:
        yield
    finally:
        for module, was in zip(modules, training, strict=True):
            module.train(was)
