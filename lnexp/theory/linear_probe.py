"""Ask of hidden states what a linear classifier can read from them (Alain and Bengio 2016, arXiv 1610.01644)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from lnexp.plugin.placement import Side
from lnexp.theory.models import STOCK_SIDES, kept_positions

#: Steps of the solver, which ends sooner where it converges.
STEPS = 1000


@dataclass(frozen=True)
class Words:
    """The words of some sentences, and the hidden states above them.

    Attributes:
        states: by layer, from the input of the first one on, each ``(words, channels)``.
        truth: the class of each word, and its position in what the model reads, from 1 (in the decoder the end of
            sentence comes first), by what is asked; each ``(words,)``.
    """

    states: list[np.ndarray]
    truth: dict[str, np.ndarray]


def accuracy(fit: Words, judge: Words, asked: str, layer: int) -> float:
    """Return the share of words of ``judge`` that a classifier gets right which was fitted on ``fit``.

    It is logistic regression with the default L2 penalty of scikit-learn, on channels that are standardised first, so
    that the size of hidden states, which placements differ in, does not matter.

    Args:
        fit, judge: of the same model; other sentences.
        asked: ``position`` or ``word_class``.
        layer: whose output is read; 0: the input of the first one.
    """
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=STEPS))
    classifier.fit(fit.states[layer], fit.truth[asked])
    return float(classifier.score(judge.states[layer], judge.truth[asked]))


def most_frequent(fit: Words, judge: Words, asked: str) -> float:
    """Return the accuracy of who always says what is most frequent in ``fit``."""
    (answer, _), *_ = Counter(fit.truth[asked].tolist()).most_common(1)
    return float((judge.truth[asked] == answer).mean())


@torch.no_grad()
def words_of(
    model: Any, side: Side, batches: Iterable[dict[str, Any]], symbols: Sequence[str], classes: Mapping[str, str]
) -> Words:
    """Return all words of minibatches that have a class, with their hidden states in one side of a model.

    Args:
        model: fairseq's, in evaluation mode.
        side: whose layers, and whose words.
        batches: fairseq's.
        symbols: the dictionary's, by number.
        classes: of words, see :func:`lnexp.corpora.toy_word_classes.word_classes`. Others are left out, as the end of
            the sentence is, in both questions.
    """
    states: list[list[Tensor]] = []
    truth: dict[str, list[Any]] = {"position": [], "word_class": []}
    for batch in batches:
        tokens = batch["net_input"][STOCK_SIDES[side]].t()  # (time, batch)
        kept = kept_positions(model, batch["net_input"])[side]
        positions = kept.cumsum(dim=0)
        found = [classes.get(symbols[token]) for token in tokens.flatten().tolist()]
        chosen = torch.tensor([name is not None for name in found]).view_as(kept) & kept
        truth["word_class"] += [name for name, taken in zip(found, chosen.flatten().tolist(), strict=True) if taken]
        truth["position"] += positions[chosen].tolist()
        states.append([x[chosen] for x in _states(model, side, batch)])
    by_layer = [torch.cat(layer).double().numpy() for layer in zip(*states, strict=True)]
    return Words(by_layer, {asked: np.array(values) for asked, values in truth.items()})


def _states(model: Any, side: Side, batch: dict[str, Any]) -> list[Tensor]:
    """Return what goes into the first layer of a side, and what each layer gives out: ``(time, batch, channel)``."""
    layers = getattr(model, side).layers
    found: list[Tensor] = []
    first = layers[0].register_forward_pre_hook(lambda _, given: found.append(given[0]))
    others = [layer.register_forward_hook(lambda _, __, out: found.append(_first(out))) for layer in layers]
    try:
        model(**batch["net_input"])
    finally:
        for hook in (first, *others):
            hook.remove()
    return found


def _first(output: Any) -> Tensor:
    return output[0] if isinstance(output, tuple) else output


def split_batches(task: Any, split: str, tokens: int) -> Iterator[dict[str, Any]]:
    """Yield the minibatches of a split, of at most ``tokens`` tokens a side, in their order."""
    task.load_dataset(split)
    data = task.dataset(split)
    yield from task.get_batch_iterator(
        data, max_tokens=max(tokens, int(data.sizes.max())), seed=1, disable_iterator_cache=True
    ).next_epoch_itr(shuffle=False)
