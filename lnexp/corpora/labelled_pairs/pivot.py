"""Write pairs of sentences by pivot: two sentences that translate the same sentence are a paraphrase (1).

Sentences are in groups: those that share a translation, directly or by way of others. A group is in one split. For each
paraphrase there is a pair of sentences of two groups (0) that have about as many words in common, so that overlap of
words tells little.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from lnexp.checks import check_whole
from lnexp.corpora.cleaning import decode_at, flaw
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.finish import Finish
from lnexp.corpora.labelled_pairs import LabelledPair, finished, write_pairs
from lnexp.corpora.language_pair import file_pair
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError

WORD = re.compile(r"[^\W_]+")
#: How many sentences with words in common with another are looked at for the one whose overlap fits best.
MOST_CANDIDATES = 200
#: By how much the overlaps of a paraphrase and of its counterpart may differ.
NEAR = 0.1
#: Words that are in more sentences than this are not looked up: nearly every sentence has some.
MOST_SENTENCES = 2_000


def write(
    folder: Path,
    context: PreparationContext,
    *,
    path: str,
    files: dict[str, str],
    seed: int,
    hold_out: int,
    language: str,
    tokenizer: Literal["moses", "none"],
    lowercase: bool,
    sha256: Any = None,
) -> dict[str, Any]:
    """Write the pairs of each split, in random order.

    Args:
        folder: to write to.
        context: of every preparation.
        path: the user's folder or archive.
        files: the parallel text, as ``{source, target}``: pairs are of sentences of ``target``.
        seed: of what is drawn.
        hold_out: of so many groups one goes to valid, and one to test.
        language, tokenizer, lowercase: how sentences are written.
        sha256: of the files; it only makes the settings of different files differ.

    Returns:
        For the manifest: ``groups``, how many each split has.

    Raises:
        UserError: where a file is missing, is not UTF-8, or has fewer lines than the other one.
    """
    finish = Finish("data.pairs", language, tokenizer, lowercase)
    rng = _generator(seed)
    check_whole("data.pairs.hold_out", hold_out, least=3)
    splits = _split(groups_of(_translations(path, files)), hold_out, rng)
    for split, mine in splits.items():
        pairs = _pairs_of(mine, rng)
        rng.shuffle(pairs)
        write_pairs(folder, split, finished(pairs, finish))
    return {"groups": {split: len(mine) for split, mine in splits.items()}}


#: Sentences by the sentence that they translate.
Group = dict[str, list[str]]


def sentences_by_split(path: str, files: dict[str, str], seed: int, hold_out: int) -> dict[str, list[str]]:
    """Return the sentences that pairs are made of, each once, by the split that :func:`write` puts their groups in.

    Args:
        path, files, seed, hold_out: as :func:`write` takes them.

    Raises:
        UserError: as :func:`write` does.
    """
    translations = list(_translations(path, files))
    splits = _split(groups_of(translations), hold_out, _generator(seed))
    split_of = {
        sentence: split for split, groups in splits.items() for group in groups for side in group.values()
        for sentence in side
    }  # fmt: skip
    found: dict[str, list[str]] = {split: [] for split in SPLITS}
    for sentence in dict.fromkeys(sentence for _, sentence in translations):  # in the order of the text
        found[split_of[sentence]].append(sentence)
    return found


def _generator(seed: int) -> random.Random:
    return random.Random(f"pairs of {seed}")


def _split(groups: list[Group], hold_out: int, rng: random.Random) -> dict[str, list[Group]]:
    """Return the groups of each split: in random order one of ``hold_out`` is in test, and the next one in valid."""
    rng.shuffle(groups)
    splits = {"test": groups[::hold_out], "valid": groups[1::hold_out]}
    splits["train"] = [group for number, group in enumerate(groups) if number % hold_out > 1]
    return splits


def _translations(path: str, files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of two files that translate each other; lines that are no sentences are left out."""
    both = file_pair(files, path, {})
    for number, raw in enumerate(zip_longest(*(file.lines() for file in both)), start=1):
        if None in raw:
            raise UserError(f"{both[raw.index(None)].location} has {number - 1:,} lines, fewer than the other file")
        pivot, sentence = (
            decode_at(line, f"{file.location}:{number}").strip() for file, line in zip(both, raw, strict=True)
        )
        if not (flaw(pivot) or flaw(sentence)):
            yield pivot, sentence


def groups_of(translations: Iterable[tuple[str, str]]) -> list[Group]:
    """Return the groups of sentences that share a translation, directly or by way of others, in the order of the text.

    Args:
        translations: a sentence that is translated, and its translation.
    """
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = parent[above]
            node = above
        return node

    found = list(dict.fromkeys(translations))
    for pivot, sentence in found:
        # what is the same in both languages, as a name, is two sentences all the same
        parent[root(f"pivot {pivot}")] = root(f"sentence {sentence}")
    groups: dict[str, Group] = defaultdict(lambda: defaultdict(list))
    for pivot, sentence in found:
        groups[root(f"pivot {pivot}")][pivot].append(sentence)
    return [dict(group) for group in groups.values()]


def words_of(sentence: str) -> frozenset[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return frozenset(WORD.findall(sentence.lower()))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words of two sentences that both have, from 0 to 1."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _paraphrase(group: Group, rng: random.Random) -> tuple[str, str] | None:
    """Return two sentences of a group that translate one sentence, in random order; None where it has none.

    Sentences with the same words, which differ in punctuation or order alone, are no paraphrase.
    """
    several = [sentences for sentences in group.values() if len(set(map(words_of, sentences))) > 1]
    if not several:
        return None
    sentences = rng.choice(several)
    one = rng.choice(sentences)
    return one, rng.choice([sentence for sentence in sentences if words_of(sentence) != words_of(one)])


def _pairs_of(groups: Sequence[Group], rng: random.Random) -> list[LabelledPair]:
    """Return the pairs of a split: a paraphrase of each group that has one, and as many pairs that are none.

    The first sentence of a paraphrase is paired with one of another group, too: the one whose overlap of words with it
    is the nearest to that of the paraphrase, among those with the most words in common. Where the two overlaps differ
    by more than :data:`NEAR`, both pairs are left out.
    """
    numbers = {sentence: number for number, group in enumerate(groups) for side in group.values() for sentence in side}
    words = {sentence: words_of(sentence) for sentence in numbers}
    having: dict[str, list[str]] = defaultdict(list)
    for sentence, its_words in words.items():
        for word in its_words:
            having[word].append(sentence)
    pairs = []
    for number, group in enumerate(groups):
        if (found := _paraphrase(group, rng)) is None:
            continue
        one, other = found
        wanted = overlap(words[one], words[other])
        rarest_first = sorted(words[one], key=lambda word: (len(having[word]), word))
        looked_up = [word for word in rarest_first if len(having[word]) <= MOST_SENTENCES]
        shared = Counter(sentence for word in looked_up for sentence in having[word] if numbers[sentence] != number)
        off = {
            sentence: abs(overlap(words[one], words[sentence]) - wanted)
            for sentence, _ in shared.most_common(MOST_CANDIDATES)
        }
        nearest = min(off, key=off.__getitem__, default=None)
        if nearest is not None and off[nearest] <= NEAR:
            second = (one, nearest) if rng.random() < 0.5 else (nearest, one)
            pairs += [LabelledPair(1, one, other), LabelledPair(0, *second)]
    return pairs
