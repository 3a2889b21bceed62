"""Record the squared norms of hidden states during a forward pass, at the places that the paper's lemmas are about."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from lnexp.checks import check_choice
from lnexp.errors import UserError


def _before_norm(layer: Any, see: Callable[[Tensor], None]) -> Any:
    return layer.final_layer_norm.register_forward_pre_hook(lambda _, inputs: see(inputs[0]))


def _output(layer: Any, see: Callable[[Tensor], None]) -> Any:
    return layer.register_forward_hook(lambda _, __, out: see(out[0] if isinstance(out, tuple) else out))


#: The places in a layer, each with the function that installs a hook there. ``before_norm`` is the input of the FFN
#: block's LayerNorm ``final_layer_norm``, of the last one in a pass: for Post-LN ``x^{post,5}``, the sum of the
#: residual stream and the FFN. ``output`` is the layer's output: for Pre-LN ``x^{pre}_{l+1}``.
PLACES = {"before_norm": _before_norm, "output": _output}


def places_of(layers: nn.ModuleList) -> list[str]:
    """Return the places that these layers have; layers without a LayerNorm have ``output`` alone."""
    return [at for at in PLACES if at == "output" or not isinstance(layers[0].final_layer_norm, nn.Identity)]


@contextmanager
def hidden_norms(layers: nn.ModuleList, at: str) -> Iterator[list[Tensor]]:
    """Record ``‖x‖²``, in double precision, at every layer in the one forward pass of the ``with`` block.

    Args:
        layers: of an encoder, a decoder or a :class:`lnexp.theory.setting.Stack`.
        at: one of :data:`PLACES`.

    Yields:
        A list that gets a tensor ``(time, batch)`` a layer.

    Raises:
        UserError: for an unknown place; at the end of the block, where not every layer was passed exactly once.
    """
    check_choice("at", at, PLACES)
    norms: list[Tensor] = []
    seen: dict[nn.Module, Tensor] = {}  # of the layer that is passed
    handles = [PLACES[at](layer, partial(seen.__setitem__, layer)) for layer in layers]

    def passed(layer: nn.Module, *_: Any) -> None:
        if layer in seen:
            norms.append(squared_norm(seen.pop(layer)))

    handles += [layer.register_forward_hook(passed) for layer in layers]
    try:
        yield norms
    finally:
        for handle in handles:
            handle.remove()
    if len(norms) != len(layers):
        raise UserError(f"at={at}: recorded {len(norms)} times in one pass through {len(layers)} layers")


def squared_norm(x: Tensor) -> Tensor:
    """Return ``‖x‖²`` over the channels, in double precision: ``(…, d)`` to ``(…)``."""
    return x.detach().double().pow(2).sum(dim=-1)
