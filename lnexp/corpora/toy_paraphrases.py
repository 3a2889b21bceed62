"""Generate the corpus ``bert_toy``: the English side of the embedded grammar, and pairs of sentences for paraphrasing.

The truth of the pairs follows from how they are made. A paraphrase (1) has an adverb moved from the end of a clause to
its front, or its two clauses exchanged together with the conjunction. The others (0) are made in the same way of a
sentence that differs in content words, so that order tells nothing.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from lnexp.checks import check_whole
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.toy import MAX_TOKENS, MOST_PAIRS, clause, sentences
from lnexp.corpora.toy_lexicon import ADVERBS, ANIMATE, CONJUNCTIONS, INTRANSITIVE, THINGS, TRANSITIVE, Tokens

#: Content words of one kind, of which one may stand for another; nouns and verb forms of several words are left out.
KINDS = tuple(
    tuple(word for word in words if " " not in word)
    for words in (
        [noun.english for noun in ANIMATE + THINGS],
        [noun.english_plural for noun in ANIMATE + THINGS],
        *([verb.english for verb in verbs] for verbs in (TRANSITIVE, INTRANSITIVE)),
        *([verb.english_third for verb in verbs] for verbs in (TRANSITIVE, INTRANSITIVE)),
        *([verb.english_past for verb in verbs] for verbs in (TRANSITIVE, INTRANSITIVE)),
    )
)


def write(
    folder: Path, context: PreparationContext, *, seed: int, train_pairs: int, valid_pairs: int, test_pairs: int
) -> None:
    """Write ``{train,valid,test}.en`` with so many sentences into ``folder``; no sentence is in two splits.

    Raises:
        UserError: for a split without a sentence.
    """
    text = sentences(seed)
    for split, count in (("test", test_pairs), ("valid", valid_pairs), ("train", train_pairs)):
        check_whole(f"data.text.{split}_pairs", count, least=1, most=MOST_PAIRS)
        lines = [" ".join(next(text).english) for _ in range(count)]
        (folder / f"{split}.en").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def paraphrases(seed: int, other_words: int | None = 1) -> Iterator[tuple[int, Tokens, Tokens]]:
    """Yield pairs without end, a paraphrase and a pair that is none in turn.

    The sentence that a pair is made of does not repeat. It is the second one in half of the pairs, and what is made of
    it can be made of another one too, so that a sentence can be in two pairs.

    Args:
        seed: of what is drawn.
        other_words: how many content words are others in a pair that is no paraphrase; None: all of them.
    """
    rng = random.Random(f"paraphrases of {seed}")
    seen: set[Tokens] = set()
    label = 1
    while True:
        one, parts = _two_orders(rng)
        other = parts if label else _with_other_words(rng, parts, other_words)
        if other is None or one in seen or max(len(one), len(other)) > MAX_TOKENS:
            continue
        seen.add(one)
        yield (label, one, other) if rng.random() < 0.5 else (label, other, one)
        label = 1 - label


def _two_orders(rng: random.Random) -> tuple[Tokens, Tokens]:
    """Return one statement in two orders of words."""
    first = clause(rng).english()
    if rng.random() < 0.5:
        _, adverb = rng.choice(ADVERBS)
        return (adverb, *first, "."), (*first, adverb, ".")
    _, conjunction = rng.choice(CONJUNCTIONS)
    second = clause(rng).english()
    return (*first, conjunction, *second, "."), (conjunction, *second, ",", *first, ".")


def _with_other_words(rng: random.Random, tokens: Tokens, count: int | None) -> Tokens | None:
    """Return a sentence with content words replaced by others of their kinds; None where it has not so many."""
    places = [(place, kind) for place, word in enumerate(tokens) for kind in KINDS if word in kind]
    if not places or (count or 1) > len(places):
        return None
    changed = list(tokens)
    for place, kind in rng.sample(places, count or len(places)) if count != 1 else [rng.choice(places)]:
        before = tokens[place - 1] if place else ""
        fitting = [
            word for word in kind if word != tokens[place] and (before not in ("a", "an") or _fits(before, word))
        ]
        if not fitting:
            return None
        changed[place] = rng.choice(fitting)
    return tuple(changed)


def _fits(article: str, word: str) -> bool:
    """Return whether a word can stand after the article ``a`` or ``an``."""
    return (word[0] in "aeiou") == (article == "an")
