"""Fig. 3(a,b): the gradients of every layer's FFN."""

from lnexp.theory.gradients import gradient_norms
from lnexp.theory.models import SIDES, Probed, loss_of
from lnexp.theory.probe import Row

#: The two matrices of an FFN: as the paper calls them, and as the model does.
MATRICES = {"W1": "fc1", "W2": "fc2"}


def ffn_gradients(probed: Probed) -> list[Row]:
    """``‖E[∂L/∂W]‖_F`` of both FFN matrices of every layer of both sides, over the minibatches.

    A row a matrix: ``side``, ``layer`` (from 1), ``parameter`` (``W1`` or ``W2``), ``grad_norm`` (of the expected
    gradient) and ``mean_grad_norm`` (the mean of the minibatches' norms).
    """
    names = {
        f"{side}.layers.{layer}.{module}.weight": {"side": side, "layer": layer + 1, "parameter": matrix}
        for side in SIDES
        for matrix, module in MATRICES.items()
        for layer in range(len(getattr(probed.model, side).layers))
    }
    norms = gradient_norms(probed.model, list(names), (loss_of(probed, batch) for batch in probed.batches))
    return [
        {**where, "grad_norm": norms[name].expected, "mean_grad_norm": norms[name].mean}
        for name, where in names.items()
    ]
