"""Generate the corpus ``bert_toy``: the English side of the embedded grammar, and pairs of sentences for paraphrasing.

The pairs lie beside the text, ``paraphrases.{split}.tsv``: label, sentence and sentence. Their truth follows from how
they are made. A paraphrase (1) has an adverb moved from the end of a clause to its front, or its two clauses
exchanged together with the conjunction. The others (0) are made in the same way of a sentence that differs in one
content word, so that order tells nothing.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from lnexp.checks import check_whole
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.toy import (
    ADVERBS,
    ANIMATE,
    CONJUNCTIONS,
    INTRANSITIVE,
    MAX_TOKENS,
    THINGS,
    TRANSITIVE,
    Tokens,
    clause,
    sentences,
)

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
    """Write ``{train,valid,test}.en`` and as many pairs, ``paraphrases.{split}.tsv``, into ``folder``.

    No sentence is in two splits; no first sentence of a pair is.

    Raises:
        UserError: for a split without a sentence.
    """
    text, pairs = sentences(seed), paraphrases(seed)
    for split, count in (("test", test_pairs), ("valid", valid_pairs), ("train", train_pairs)):
        check_whole(f"data.text.{split}_pairs", count, least=1)
        lines = [" ".join(next(text).english) for _ in range(count)]
        (folder / f"{split}.en").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        rows = [next(pairs) for _ in range(count)]
        (folder / f"paraphrases.{split}.tsv").write_text(
            "".join(f"{label}\t{' '.join(one)}\t{' '.join(other)}\n" for label, one, other in rows), encoding="utf-8"
        )


def paraphrases(seed: int) -> Iterator[tuple[int, Tokens, Tokens]]:
    """Yield pairs without end, a paraphrase and a pair that is none in turn; no first sentence repeats."""
    rng = random.Random(f"paraphrases of {seed}")
    seen: set[Tokens] = set()
    label = 1
    while True:
        one, parts = _two_orders(rng)
        other = parts if label else _with_another_word(rng, parts)
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


def _with_another_word(rng: random.Random, tokens: Tokens) -> Tokens | None:
    """Return a sentence with one content word replaced by another of its kind; None where it has none."""
    places = [(place, kind) for place, word in enumerate(tokens) for kind in KINDS if word in kind]
    if not places:
        return None
    place, kind = rng.choice(places)
    before = tokens[place - 1] if place else ""
    fitting = [word for word in kind if word != tokens[place] and (before not in ("a", "an") or _fits(before, word))]
    return (*tokens[:place], rng.choice(fitting), *tokens[place + 1 :]) if fitting else None


def _fits(article: str, word: str) -> bool:
    """Return whether a word can stand after the article ``a`` or ``an``."""
    return (word[0] in "aeiou") == (article == "an")
