"""The squared norms of hidden states, at the places that the paper's lemmas speak of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from lnexp.errors import UserError


class HiddenNorms:
    """What was seen while recording.

    Attributes:
        before_norm: ``‖x‖²`` of what each layer's last LayerNorm took in, a tensor ``(time, batch)`` a layer. For
            Post-LN that is ``x^{post,5}``, the sum of the residual stream and the FFN.
        output: the same of what each layer gave out: ``x^{pre}_{l+1}`` for Pre-LN.
    """

    def __init__(self) -> None:
        self.before_norm: list[Tensor] = []
        self.output: list[Tensor] = []


@contextmanager
def hidden_norms(layers: nn.ModuleList) -> Iterator[HiddenNorms]:
    """Record the norms, in double precision, of what goes through the layers, once, in the ``with`` block.

    Raises:
        UserError: at its end, where a layer or its last LayerNorm was not gone through exactly once.
    """
    norms = HiddenNorms()
    handles = [handle for layer in layers for handle in _watch(layer, norms)]
    try:
        yield norms
    finally:
        for handle in handles:
            handle.remove()
    for what, seen in {"LayerNorms": norms.before_norm, "layers": norms.output}.items():
        if len(seen) != len(layers):
            raise UserError(
                f"{len(layers)} layers, whose last {what} were gone through {len(seen)} times: cannot see them"
            )


def _watch(layer: Any, norms: HiddenNorms) -> list:
    def before(_, arguments):
        norms.before_norm.append(squared_norm(arguments[0]))

    def after(_, __, output):
        norms.output.append(squared_norm(output[0] if isinstance(output, tuple) else output))

    return [layer.final_layer_norm.register_forward_pre_hook(before), layer.register_forward_hook(after)]


def squared_norm(x: Tensor) -> Tensor:
    """``‖x‖²`` over the channels, in double precision: ``(…, d)`` to ``(…)``."""
    return x.detach().double().pow(2).sum(dim=-1)
