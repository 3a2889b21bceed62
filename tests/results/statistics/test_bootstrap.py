"""The bootstrap over seeds and sentences."""

import numpy as np
import pytest
import sacrebleu

from lnexp.results.statistics.bootstrap import compare, draw, resampled_differences, spread_shown, two_sided_p
from lnexp.tasks.translation.bleu import bleu_of_counts, detokenise, sentence_counts

SEEDS, SENTENCES, SAMPLES = 3, 12, 40
WORDS = ["the", "a", "dog", "house", ",", "runs", "sees", "big", "small", ".", "green", "and"]


@pytest.fixture(scope="module")
def texts() -> tuple[list[list[list[str]]], list[str]]:
    """Translations of two arms by seed, those of the second with more wrong words; and references."""
    generator = np.random.default_rng(5)
    references = [list(generator.choice(WORDS, size=length)) for length in range(5, 5 + SENTENCES)]

    def translated(wrong: float) -> list[str]:
        return [
            " ".join(generator.choice(WORDS) if generator.random() < wrong else word for word in sentence)
            for sentence in references
        ]

    arms = [[translated(wrong) for _ in range(SEEDS)] for wrong in (0.2, 0.8)]
    arms[0][1][0], arms[1][2] = "", ["nothing that is right"] * SENTENCES
    return arms, [" ".join(sentence) for sentence in references]


@pytest.fixture(scope="module")
def counts(texts) -> np.ndarray:
    arms, references = texts
    return np.array([[sentence_counts(lines, references, "en") for lines in arm] for arm in arms])


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_scores_are_sacrebleus_of_the_resampled_text(texts, counts):
    arms, references = texts
    plain = [[detokenise(lines, "en") for lines in arm] for arm in arms]
    plain_references = detokenise(references, "en")
    drawing, expected = generator(), []
    for _ in range(SAMPLES):
        seeds, sentences = draw(drawing, SEEDS, SENTENCES)
        resampled = [plain_references[sentence] for sentence in sentences]
        means = [
            np.mean(
                [
                    sacrebleu.corpus_bleu([arm[seed][sentence] for sentence in sentences], [resampled]).score
                    for seed in seeds
                ]
            )
            for arm in plain
        ]
        expected.append(means[0] - means[1])
    found = resampled_differences(counts, bleu_of_counts, SAMPLES, generator())
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    assert len(set(expected)) == SAMPLES


def test_the_arms_have_their_corpus_bleu(texts, counts):
    arms, references = texts
    found = compare(counts, bleu_of_counts, SAMPLES, generator())
    for score, arm in zip(found.scores, arms, strict=True):
        of_seeds = [
            sacrebleu.corpus_bleu(detokenise(lines, "en"), [detokenise(references, "en")]).score for lines in arm
        ]
        assert score == pytest.approx(np.mean(of_seeds))
    assert found.low < found.difference < found.high


def test_equal_arms_do_not_differ(counts):
    found = compare(counts[[0, 0]], bleu_of_counts, SAMPLES, generator())
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_swapped_arms_have_the_opposite_difference(counts):
    found = compare(counts, bleu_of_counts, SAMPLES, generator())
    swapped = compare(counts[::-1], bleu_of_counts, SAMPLES, generator())
    assert (swapped.difference, swapped.p) == (-found.difference, found.p)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize(
    ("below", "above", "p"), [(0, 999, 2 / 1000), (24, 975, 50 / 1000), (975, 24, 50 / 1000), (500, 499, 1)]
)
def test_the_p_value_belongs_to_the_interval(below, above, p):
    assert two_sided_p(np.repeat([-1.0, 1.0], [below, above])) == pytest.approx(p)


def mean(sums: np.ndarray) -> float:
    return sums[0] / sums[1]


def drawn_counts(random: np.random.Generator, seeds: int, sentences: int, of_sentences: float) -> np.ndarray:
    """The values and the numbers of sentences of two equal arms, which differ by their seeds and their sentences."""
    values = random.normal(0, 1, (2, seeds, 1)) + of_sentences * random.normal(0, 1, (2, 1, sentences))
    return np.stack([values, np.ones_like(values)], axis=-1)


def test_resamples_show_a_known_share_of_the_spread_of_seeds():
    counts = drawn_counts(np.random.default_rng(1), 3, 2, of_sentences=0)
    first, second = counts[:, :, 0, 0]
    error = np.std(first - second, ddof=1) / np.sqrt(3)
    shown = resampled_differences(counts, mean, 4000, generator()).std()
    assert shown == pytest.approx(spread_shown(3) * error, rel=0.03)


def test_intervals_of_equal_arms_have_zero_about_as_often_as_they_say():
    random = np.random.default_rng(3)
    found = [compare(drawn_counts(random, 12, 30, of_sentences=1), mean, 200, random) for _ in range(60)]
    assert 51 <= sum(one.low <= 0 <= one.high for one in found) <= 59
