"""The squared norms of hidden states, at the places that the paper's lemmas speak of."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from lnexp.checks import check_choice
from lnexp.errors import UserError


def _before_norm(layer: Any, see: Callable[[Tensor], None]) -> Any:
    return layer.final_layer_norm.register_forward_pre_hook(lambda _, inputs: see(inputs[0]))


def _output(layer: Any, see: Callable[[Tensor], None]) -> Any:
    return layer.register_forward_hook(lambda _, __, out: see(out[0] if isinstance(out, tuple) else out))


#: Where to look, and the hook that looks there. ``before_norm`` is what a layer's last LayerNorm takes in: for Post-LN
#: ``x^{post,5}``, the sum of the residual stream and the FFN. ``output`` is what a layer gives out: for Pre-LN
#: ``x^{pre}_{l+1}``.
PLACES = {"before_norm": _before_norm, "output": _output}


def places_of(layers: nn.ModuleList) -> list[str]:
    """Where one can look in these layers: those of a placement without LayerNorms have an output alone."""
    return [at for at in PLACES if at == "output" or not isinstance(layers[0].final_layer_norm, nn.Identity)]


@contextmanager
def hidden_norms(layers: nn.ModuleList, at: str) -> Iterator[list[Tensor]]:
    """Record ``‖x‖²``, in double precision, of what goes through the layers, once, in the ``with`` block.

    Args:
        layers: of an encoder, a decoder or a :class:`lnexp.theory.setting.Stack`.
        at: one of :data:`PLACES`.

    Yields:
        A list that gets a tensor ``(time, batch)`` a layer.

    Raises:
        UserError: for a place that there is none of; at the end, where a layer was not gone through exactly once.
    """
    check_choice("at", at, PLACES)
    norms: list[Tensor] = []
    handles = [PLACES[at](layer, lambda x: norms.append(squared_norm(x))) for layer in layers]
    try:
        yield norms
    finally:
        for handle in handles:
            handle.remove()
    if len(norms) != len(layers):
        raise UserError(f"at={at}: {len(layers)} layers were gone through {len(norms)} times there: cannot see them")


def squared_norm(x: Tensor) -> Tensor:
    """``‖x‖²`` over the channels, in double precision: ``(…, d)`` to ``(…)``."""
    return x.detach().double().pow(2).sum(dim=-1)
