"""The squared norms of hidden states, at the places that the paper's lemmas speak of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


class HiddenNorms:
    """What was seen while recording.

    Attributes:
        before_norm: ``‖x‖²`` of what each layer's last LayerNorm took in, a tensor ``(time, batch)`` a layer. For
            Post-LN that is ``x^{post,5}``, the sum of the residual stream and the FFN.
        output: the same of what each layer gave out: ``x^{pre}_{l+1}`` for Pre-LN.
    """

    def __init__(self, layers: int):
        self.before_norm: list[Tensor] = [torch.empty(0)] * layers
        self.output: list[Tensor] = [torch.empty(0)] * layers


@contextmanager
def hidden_norms(layers: nn.ModuleList) -> Iterator[HiddenNorms]:
    """Record the norms, in double precision, of whatever goes through the layers in the ``with`` block."""
    norms = HiddenNorms(len(layers))
    handles = []
    for number, layer in enumerate(layers):
        handles += _watch(layer, number, norms)
    try:
        yield norms
    finally:
        for handle in handles:
            handle.remove()


def _watch(layer: Any, number: int, norms: HiddenNorms) -> list:
    def before(_, arguments):
        norms.before_norm[number] = squared_norm(arguments[0])

    def after(_, __, output):
        norms.output[number] = squared_norm(output[0] if isinstance(output, tuple) else output)

    return [layer.final_layer_norm.register_forward_pre_hook(before), layer.register_forward_hook(after)]


def squared_norm(x: Tensor) -> Tensor:
    """``‖x‖²`` over the channels, in double precision: ``(…, d)`` to ``(…)``."""
    return x.detach().double().pow(2).sum(dim=-1)
