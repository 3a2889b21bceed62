"""Measure along training how an encoder amplifies a small change of its weights (Liu et al. 2020)."""

import copy
from itertools import chain

from lnexp.theory.amplification import against_the_gradient, gain, random_signs
from lnexp.theory.checkpoint import trained_model
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_model
from lnexp.theory.trained_run import TrainedRun


@register_measurement
def amplification_in_training(
    context: Context, run: dict, random_size: float, gradient_size: float, batches: int
) -> list[Row]:
    """Return how much the output of a run's encoder depends on its weights, before training and after every epoch.

    A row has ``updates``, made before; ``of`` and ``value``: the gain of :func:`lnexp.theory.amplification.gain` for
    signs drawn at ``random``, the same at all epochs, and for those against the ``gradient``; and ``run``, the identity
    of the run. All are of the run's first minibatches.

    Args:
        context: seed and corpus.
        run: ``recipe``, ``profile`` and ``arm`` of the run, which has kept all checkpoints.
        random_size: by how much each weight changes where signs are drawn at random.
        gradient_size: the same where it changes against the gradient.
        batches: number of minibatches in all means.
    """
    trained = TrainedRun.of(context, run)
    cfg = copy.deepcopy(trained.cfg)
    cfg.probes.batches = batches
    start = untrained_model(cfg)
    signs = random_signs(start.model)
    corpus = trained.prepared()
    later = ((updates, trained_model(path, corpus, cfg)) for updates, path in trained.every_checkpoint().items())
    rows: list[Row] = []
    for updates, probed in chain([(0, start)], later):
        values = {
            "random": gain(probed, signs, random_size),
            "gradient": gain(probed, against_the_gradient(probed), gradient_size),
        }
        point = {"updates": updates, "run": trained.identity}
        rows += [{**point, "of": of, "value": value} for of, value in values.items()]
    return rows
