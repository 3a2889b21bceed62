"""Name the class of every word of the embedded corpus, as its grammar has it."""

from collections.abc import Iterator

from lnexp.corpora.toy import PRONOUNS
from lnexp.corpora.toy_lexicon import (
    ADJECTIVES,
    ADVERBS,
    ANIMATE,
    CONJUNCTIONS,
    DEFINITE,
    EIN_ENDINGS,
    INTRANSITIVE,
    MODALS,
    OPINIONS,
    PREPOSITIONS,
    THINGS,
    TRANSITIVE,
)

NOUNS, VERBS = ANIMATE + THINGS, TRANSITIVE + INTRANSITIVE
#: Of the determiners that have endings, what these follow.
POSSESSIVES = ("ein", "mein")
#: Endings of German adjectives.
ADJECTIVE_ENDINGS = ("e", "en", "er", "es")
#: Words that the grammar writes out where it needs them.
WRITTEN_OUT = {
    "de": {"auxiliary": ("haben", "habe", "hat"), "negation": ("nicht",), "conjunction": ("dass",)},
    "en": {
        "auxiliary": ("do", "does", "did"),
        "determiner": ("the", "my", "a", "an"),
        "negation": ("not",),
        "conjunction": ("that",),
    },
}
PUNCTUATION = (".", ",", "?")


def word_classes(language: str) -> dict[str, str]:
    """Return the class of every form, as ``noun``, ``determiner`` or ``particle``, of a separable verb.

    Forms that are of more than one class, as ``mit`` and ``to``, are left out.

    Args:
        language: ``de`` or ``en``.
    """
    classes: dict[str, set[str]] = {}
    forms = {"de": _german, "en": _english}[language]
    for name, form in (*forms(), *_written_out(language)):
        classes.setdefault(form, set()).add(name)
    return {form: names.pop() for form, names in classes.items() if len(names) == 1}


def _written_out(language: str) -> Iterator[tuple[str, str]]:
    for name, forms in WRITTEN_OUT[language].items():
        yield from ((name, form) for form in forms)
    yield from (("punctuation", mark) for mark in PUNCTUATION)


def _german() -> Iterator[tuple[str, str]]:
    for noun in NOUNS:
        yield from (("noun", form) for form in (noun.german, noun.german_plural, f"{noun.german_plural}n"))
    for verb in VERBS:
        base = verb.infinitive.removeprefix(verb.particle)
        finite = (verb.first_singular, verb.third_singular, base)
        yield from (("verb", form) for form in (verb.infinitive, verb.participle, *finite))
        if verb.particle:
            yield "particle", verb.particle
            yield from (("verb", verb.particle + form) for form in finite)
    for adjective, _ in ADJECTIVES:
        yield from (("adjective", adjective + ending) for ending in ADJECTIVE_ENDINGS)
    for case in DEFINITE:
        yield from (("determiner", form) for form in DEFINITE[case].values())
        yield from (("determiner", stem + ending) for stem in POSSESSIVES for ending in EIN_ENDINGS[case].values())
    yield from (("auxiliary", form) for modal in MODALS for form in (modal.singular, modal.plural))
    yield from _small_words(0)


def _english() -> Iterator[tuple[str, str]]:
    for noun in NOUNS:
        yield from (("noun", word) for word in f"{noun.english} {noun.english_plural}".split())
    for verb in VERBS:
        yield from (("verb", form) for form in (verb.english, verb.english_third, verb.english_past))
    yield from (("adjective", english) for _, english in ADJECTIVES)
    for modal in MODALS:
        for words in (modal.english, modal.english_third, modal.english_negated, modal.english_third_negated):
            for word in words:
                if word != "not":
                    yield "particle" if word == "to" else "auxiliary", word
    yield from _small_words(1)


def _small_words(side: int) -> Iterator[tuple[str, str]]:
    """Yield the words that have one form, of German (0) or English (1)."""
    for pronoun in PRONOUNS:
        phrase = (pronoun.german, pronoun.english)[side]
        yield from (("pronoun", word) for words in phrase.values() for word in words)
    for name, pairs in (("preposition", PREPOSITIONS), ("adverb", ADVERBS), ("conjunction", CONJUNCTIONS)):
        yield from ((name, word) for pair in pairs for word in pair[side].split())
    for pair in OPINIONS:
        subject, verb = pair[side].split()
        yield from (("pronoun", subject), ("verb", verb))
