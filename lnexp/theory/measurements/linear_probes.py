"""Measure what can be read linearly from the hidden states of trained models, layer by layer."""

from typing import Any

from lnexp.corpora.toy_word_classes import word_classes
from lnexp.errors import UserError
from lnexp.plugin.placement import Side
from lnexp.theory.checkpoint import model_and_task
from lnexp.theory.linear_probe import Words, accuracy, most_frequent, split_batches, words_of
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import sides_of
from lnexp.theory.trained_run import TrainedRun

#: The corpus whose grammar is known, and the sides of a model by the language that they read.
CORPUS = "toy"
LANGUAGES = {"encoder": "de", "decoder": "en"}


@register_measurement
def linear_probes(context: Context, run: dict, tokens: int) -> list[Row]:
    """Return a row for each side and layer of a trained model, and for each thing that is asked of its words.

    A row has ``side``, ``layer`` (0: what goes into the first one), ``asked`` (``position``: a word's number in its
    sentence; ``word_class``: see :func:`lnexp.corpora.toy_word_classes.word_classes`), ``accuracy`` and
    ``most_frequent`` (see :mod:`lnexp.theory.linear_probe`), and ``run``, the identity of the run. Classifiers are
    fitted on the sentences of valid and judged on those of test. The decoder reads the reference translation.

    Args:
        context: seed and corpus.
        run: ``recipe``, ``profile`` and ``arm`` of the run.
        tokens: of a minibatch, per side, at most.
    """
    trained = TrainedRun.of(context, run)
    if trained.data != CORPUS:
        raise UserError(
            f"data={trained.data}: the classes of its words are not known; linear probes take data={CORPUS}"
        )
    task, model, _ = model_and_task(trained.tested_checkpoint(), trained.prepared())
    model.eval()
    rows: list[Row] = []
    for side in sides_of(model):
        fit, judge = (_words(task, model, side, split, tokens) for split in ("valid", "test"))
        for asked in fit.truth:
            constant = {"side": side, "asked": asked, "most_frequent": most_frequent(fit, judge, asked)}
            rows += [
                {**constant, "layer": layer, "accuracy": accuracy(fit, judge, asked, layer), "run": trained.identity}
                for layer in range(len(fit.states))
            ]
    return rows


def _words(task: Any, model: Any, side: Side, split: str, tokens: int) -> Words:
    dictionary = task.source_dictionary if side == "encoder" else task.target_dictionary
    batches = split_batches(task, split, tokens)
    return words_of(model, side, batches, dictionary.symbols, word_classes(LANGUAGES[side]))
