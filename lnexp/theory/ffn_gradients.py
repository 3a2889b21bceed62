"""Measure the FFN gradients of every layer of a model, as in the paper's Fig. 3(a,b)."""

from lnexp.theory.gradients import gradient_norms
from lnexp.theory.measurement import Row
from lnexp.theory.models import ProbedModel, loss_of, sides_of

#: The two matrices of an FFN: the paper's name, and the model's.
MATRICES = {"W1": "fc1", "W2": "fc2"}


def ffn_gradients(probed: ProbedModel) -> list[Row]:
    """Return ``‖E[∂L/∂W]‖_F`` of both FFN matrices of every layer of every side; E is the mean over the minibatches.

    A row has ``side``, ``layer`` (from 1), ``parameter`` (``W1`` or ``W2``), ``grad_norm`` (the norm of the expected
    gradient) and ``mean_grad_norm`` (the mean of the minibatches' norms).
    """
    names = {
        f"{side}.layers.{layer}.{module}.weight": {"side": side, "layer": layer + 1, "parameter": matrix}
        for side in sides_of(probed.model)
        for matrix, module in MATRICES.items()
        for layer in range(len(getattr(probed.model, side).layers))
    }
    norms = gradient_norms(probed.model, list(names), (loss_of(probed, batch) for batch in probed.batches))
    return [
        {**where, "grad_norm": norms[name].expected, "mean_grad_norm": norms[name].mean}
        for name, where in names.items()
    ]
