"""Write pairs of sentences that the embedded grammar makes: paraphrases, and others with other content words.

Their truth follows from how they are made, see :mod:`lnexp.corpora.toy_paraphrases`.
"""

from itertools import islice
from pathlib import Path

from lnexp.checks import check_whole
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.labelled_pairs import LabelledPair, write_pairs
from lnexp.corpora.toy import MOST_PAIRS
from lnexp.corpora.toy_paraphrases import paraphrases

#: Content words that can be others, at most: few sentences of the grammar have more.
MOST_OTHER_WORDS = 6


def write(
    folder: Path, context: PreparationContext, *, seed: int, train: int, valid: int, test: int, other_words: int | None
) -> None:
    """Write so many pairs of each split, half of them paraphrases (1); hardly a sentence, and no sentence that a pair
    is made of, is in two splits.

    Args:
        folder: to write to.
        context: of every preparation.
        seed: of what is drawn.
        train, valid, test: how many pairs.
        other_words: how many content words are others in a pair that is no paraphrase; None: all of them.

    Raises:
        UserError: for a split without a pair.
    """
    if other_words is not None:
        check_whole("data.pairs.other_words", other_words, least=1, most=MOST_OTHER_WORDS)
    pairs = paraphrases(seed, other_words)
    for split, count in (("test", test), ("valid", valid), ("train", train)):
        check_whole(f"data.pairs.{split}", count, least=1, most=MOST_PAIRS)
        drawn = islice(pairs, count)
        write_pairs(folder, split, (LabelledPair(label, " ".join(one), " ".join(other)) for label, one, other in drawn))
