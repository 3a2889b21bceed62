"""Predict, by a mean-field count, how FFN gradients of a Post-LN model grow from layer to layer before training.

The count is not in the paper, whose appendix F evaluates LayerNorm's Jacobian alone. It follows the squared norm of the
gradient backward through a block ``LN(x + F(x))``. ``x`` comes out of a LayerNorm and has variance 1; the weights are
independent of it and of each other. ``v`` is the variance of ``F(x)``, and ``b`` is by what the path through ``F``
multiplies the squared gradient. LayerNorm divides by ``√(1 + v)`` and the residual path adds 1, so the block
multiplies the squared gradient by ``(1 + b) / (1 + v)``:

- FFN: ``b = v``, since ReLU lets through half of the square of either. (``v`` is 1/2 for square matrices, 4/9 for a
  hidden width of 2d.) The factor is 1.
- Self-attention by weights ``A``, whose rows sum to 1, over n positions: a matrix's gradient is a sum over positions,
  and its square is ``c ‖Σ g‖² + (1 - c) Σ ‖g‖²``, where ``c`` is the correlation of two positions' states. ``Aᵀ`` keeps
  the first sum. It multiplies the second by ``‖A‖²/n``, where the gradients ``g`` of two positions are uncorrelated.
  Then ``b = c + (1 - c) ‖A‖²/n``, which is ``v``. Where ``c`` is 1 this holds for any gradients. The factor is 1.
- Attention to the source: its values come from the encoder, so no gradient returns to ``x`` by them: ``b = 0``. The
  factor is ``1 / (1 + v)``.

So the gradient of an encoder does not grow, and that of a decoder grows toward the output by ``√(1 + v)`` a layer, with
the ``v`` of that layer's attention to the source. Left out are the paths through queries and keys (they vanish where
positions are alike), gradients that are correlated where states are not, the drift of ``c`` from layer to layer, and
fluctuations at a finite width.
"""

import itertools
import math
from collections.abc import Sequence


def log_gradient_norms(source_variances: Sequence[float]) -> list[float]:
    """Return the logarithm of the predicted gradient norm of each layer over that of the first.

    Args:
        source_variances: ``v`` of the attention to the source of each layer, from the first on; 0 where there is none.
    """
    steps = (math.log1p(variance) / 2 for variance in source_variances[1:])
    return list(itertools.accumulate(steps, initial=0.0))
