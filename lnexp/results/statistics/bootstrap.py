"""Compare the test scores of two arms by a bootstrap over seeds and sentences.

A resample has sentences of the test set, drawn with replacement and the same for both arms and all seeds, as in the
paired bootstrap of Koehn 2004 ("Statistical significance tests for machine translation evaluation", EMNLP). It has
seeds, drawn with replacement and the same for both arms, as in the Multi-Bootstrap of Sellam et al. 2022 ("The
MultiBERTs: BERT reproductions for robustness analysis", ICLR, arXiv 2106.16163). An arm's score in it is that of a
corpus of these sentences, mean over these seeds.

The interval is the percentile interval of the difference. The p-value belongs to it: twice the smaller share of
resamples that are not above zero, or not below, with one more counted so that it is never 0. sacreBLEU's own paired
bootstrap compares one run of each system, and its p-value another way: it moves the mean of the resamples to zero.

Limits: the resamples of ``n`` seeds have only ``(n - 1) / n`` of the variance between seeds that their sample variance
estimates, and a percentile interval is not widened for few of them as Student's t is. With few seeds the interval is
too narrow, and the p-value too small. Sentences are taken as independent, though those of one document are not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lnexp.results.statistics.intervals import CONFIDENCE


@dataclass(frozen=True)
class PairedDifference:
    """The test scores of two arms, and the interval of their difference, all in the unit of the score.

    Attributes:
        scores: of the first and the second arm on the whole test set, mean over seeds.
        low, high: the 95% percentile interval of the difference.
        p: the two-sided p-value of there being no difference.
    """

    scores: tuple[float, float]
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """The first arm's score minus the second's."""
        return self.scores[0] - self.scores[1]


def compare(
    counts: np.ndarray, score: Callable[[np.ndarray], float], samples: int, generator: np.random.Generator
) -> PairedDifference:
    """Return the comparison of two arms.

    Args:
        counts: ``(2, seeds, sentences, k)``, of which sums over sentences decide the score.
        score: returns the score of ``(k,)`` summed counts.
        samples: number of resamples.
        generator: draws them.
    """
    first, second = _scores(counts.sum(axis=2), score).mean(axis=1).tolist()
    differences = resampled_differences(counts, score, samples, generator)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(differences, [tail, 1 - tail]).tolist()
    return PairedDifference((first, second), low, high, two_sided_p(differences))


def resampled_differences(
    counts: np.ndarray, score: Callable[[np.ndarray], float], samples: int, generator: np.random.Generator
) -> np.ndarray:
    """Return the difference of the arms' scores in each resample, ``(samples,)``; arguments as in :func:`compare`."""
    arms, seeds, sentences, k = counts.shape
    rows = np.moveaxis(counts, 2, 0).reshape(sentences, -1).astype(float)  # products of floats take a tenth of the time
    differences = np.empty(samples)
    for number in range(samples):
        drawn_seeds, drawn_sentences = draw(generator, seeds, sentences)
        sums = np.bincount(drawn_sentences, minlength=sentences) @ rows
        first, second = _scores(sums.reshape(arms, seeds, k), score)[:, drawn_seeds].mean(axis=1)
        differences[number] = first - second
    return differences


def draw(generator: np.random.Generator, seeds: int, sentences: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the seeds, ``(seeds,)``, and of the sentences, ``(sentences,)``, of one resample."""
    return generator.integers(seeds, size=seeds), generator.integers(sentences, size=sentences)


def _scores(sums: np.ndarray, score: Callable[[np.ndarray], float]) -> np.ndarray:
    """Return the scores ``(arms, seeds)`` of summed counts ``(arms, seeds, k)``."""
    return np.apply_along_axis(score, -1, sums)


def two_sided_p(differences: np.ndarray) -> float:
    """Return the p-value of there being no difference, from resampled differences."""
    tail = min(np.sum(differences <= 0), np.sum(differences >= 0))
    return min(1.0, 2 * (1 + int(tail)) / (1 + len(differences)))


def spread_shown(seeds: int) -> float:
    """Return the share of the standard deviation between seeds that their resamples show."""
    return math.sqrt((seeds - 1) / seeds)
