"""Generate the embedded corpus ``toy``: German-English from a probabilistic synchronous grammar.

It has real words, morphology and word order: verb-second and verb-final clauses, separable verbs, modal verbs, perfect
and simple past, do-support, agreement in case, gender and number, compounds. Both sentences of a pair are derived
together, so they are translations of each other by construction. Text is tokenised and truecased (only nouns and names
have capitals, as after the usual Moses steps). It has no licence, and nothing is downloaded.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lnexp.checks import check_whole
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.toy_lexicon import (
    ADJECTIVES,
    ADVERBS,
    ANIMATE,
    CONJUNCTIONS,
    DEFINITE,
    EIN_ENDINGS,
    INTRANSITIVE,
    MIXED_ENDINGS,
    MODALS,
    OPINIONS,
    PREPOSITIONS,
    THINGS,
    TRANSITIVE,
    WEAK_ENDINGS,
    Modal,
    Noun,
    Tokens,
    Verb,
)


class Alignment(NamedTuple):
    """Content words that translate each other: ``german`` in the source, ``english`` in the target."""

    german: Tokens
    english: Tokens


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase in every case, with the person and number that a verb agrees with."""

    german: dict[str, Tokens]
    english: dict[str, Tokens]
    person: int
    plural: bool
    alignment: tuple[Alignment, ...] = ()

    @property
    def english_third_singular(self) -> bool:
        return self.person == 3 and not self.plural


def _pronoun(german: str, english: str, person: int, plural: bool) -> NounPhrase:
    return NounPhrase({"nominative": (german,)}, {"subject": (english,)}, person, plural)


PRONOUNS = (
    _pronoun("ich", "I", 1, False),
    _pronoun("er", "he", 3, False),
    _pronoun("sie", "she", 3, False),
    _pronoun("wir", "we", 1, True),
)


@dataclass(frozen=True)
class Clause:
    """A German clause by its topological fields, and its English translation."""

    subject: Tokens
    finite: str
    middle: Tokens
    end: Tokens
    #: The verb group at the end of a verb-final clause.
    final: Tokens
    english_subject: Tokens
    english_auxiliary: Tokens
    english_predicate: Tokens
    #: For questions: what moves before the subject, and the predicate that is left.
    english_question: tuple[Tokens, Tokens]
    nouns: tuple[Alignment, ...]
    #: The verb in verb-second order, and in English as it is and as its base form.
    verb: Alignment
    verb_base: str

    def german(self, first: Tokens = ()) -> Tokens:
        """Return the clause in verb-second order: ``first`` or the subject, then the finite verb."""
        if first:
            return (*first, self.finite, *self.subject, *self.middle, *self.end)
        return (*self.subject, self.finite, *self.middle, *self.end)

    def german_verb_first(self) -> Tokens:
        """Return the clause in the order of a yes-no question."""
        return (self.finite, *self.subject, *self.middle, *self.end)

    def german_verb_final(self) -> Tokens:
        """Return the clause in the order of a subordinate clause."""
        return self.subject + self.middle + self.final

    @property
    def alignment(self) -> tuple[Alignment, ...]:
        """The content words of the clause in verb-second order."""
        return (*self.nouns, self.verb)

    def english(self) -> Tokens:
        return self.english_subject + self.english_auxiliary + self.english_predicate

    def english_as_question(self) -> Tokens:
        before, rest = self.english_question
        return before + self.english_subject + rest


@dataclass(frozen=True)
class Sentence:
    """One sentence pair with its aligned content words."""

    german: Tokens
    english: Tokens
    alignment: tuple[Alignment, ...]


def _article_a(following: str) -> str:
    return "an" if following[0] in "aeiou" else "a"


def noun_phrase(rng: random.Random, nouns: tuple[Noun, ...]) -> NounPhrase:
    """Return a random noun phrase: article or possessive, perhaps an adjective, one of ``nouns``."""
    noun, plural = rng.choice(nouns), rng.random() < 0.3
    determiner = rng.choice(("der", "mein") if plural else ("der", "der", "ein", "mein"))
    adjective = rng.choice(ADJECTIVES) if rng.random() < 0.3 else None
    english_noun = tuple((noun.english_plural if plural else noun.english).split())
    english = ((adjective[1],) if adjective else ()) + english_noun
    article = {"der": "the", "mein": "my"}.get(determiner) or _article_a(english[0])
    german = {case: _german_noun_phrase(noun, plural, determiner, adjective, case) for case in DEFINITE}
    german_noun = noun.german_plural if plural else noun.german
    return NounPhrase(
        german,
        {"subject": (article, *english), "object": (article, *english)},
        person=3,
        plural=plural,
        alignment=(Alignment((german_noun,), english_noun),),
    )


def _german_noun_phrase(noun: Noun, plural: bool, determiner: str, adjective, case: str) -> Tokens:
    agreement = "p" if plural else noun.gender
    if determiner == "der":
        article, endings = DEFINITE[case][agreement], WEAK_ENDINGS
    else:
        article, endings = determiner + EIN_ENDINGS[case][agreement], MIXED_ENDINGS
    middle = (adjective[0] + endings[case].get(agreement, "en"),) if adjective else ()
    return (article, *middle, noun.german_plural if plural else noun.german)


def _dative(phrase: NounPhrase) -> Tokens:
    """Return a noun phrase in the dative, where plural nouns end in -n."""
    *before, noun = phrase.german["dative"]
    return (*before, noun + "n") if phrase.plural and noun[-1] not in "ns" else (*before, noun)


def _finite(verb: Verb, subject: NounPhrase) -> str:
    if subject.plural:
        return verb.infinitive.removeprefix(verb.particle)
    return verb.first_singular if subject.person == 1 else verb.third_singular


def clause(rng: random.Random) -> Clause:
    """Return a random clause: subject, verb (present, perfect or with a modal; negated or not), object or place."""
    subject = noun_phrase(rng, ANIMATE) if rng.random() < 0.65 else rng.choice(PRONOUNS)
    transitive = rng.random() < 0.65
    verb = rng.choice(TRANSITIVE if transitive else INTRANSITIVE)
    negated = rng.random() < 0.15
    german_object, english_object, alignment = _complement(rng, transitive)
    not_ = ("nicht",) if negated else ()
    middle = german_object + not_ if transitive else not_ + german_object
    tense = rng.choice(("present", "present", "perfect", "modal"))
    build = {"present": _present, "perfect": _perfect, "modal": _modal}[tense]
    finite, end, final, auxiliary, predicate, question = build(rng, verb, subject, negated)
    return Clause(
        subject.german["nominative"],
        finite,
        middle,
        end,
        final,
        subject.english["subject"],
        auxiliary,
        (predicate, *english_object),
        (question[0], (*question[1], *english_object)),
        (*subject.alignment, *alignment),
        Alignment(_verb_tokens(verb, end, finite), (predicate,)),
        verb.english,
    )


def _verb_tokens(verb: Verb, end: Tokens, finite: str) -> Tokens:
    """Return the German tokens that carry the verb's meaning in verb-second order."""
    if end and end[0] in (verb.infinitive, verb.participle):
        return end
    return (finite, *end)


def _complement(rng: random.Random, transitive: bool) -> tuple[Tokens, Tokens, tuple[Alignment, ...]]:
    """Return an object in the accusative, or for an intransitive verb perhaps a prepositional phrase in the dative."""
    if not transitive and rng.random() < 0.4:
        return (), (), ()
    phrase = noun_phrase(rng, ANIMATE + THINGS)
    if transitive:
        return phrase.german["accusative"], phrase.english["object"], phrase.alignment
    german, english = rng.choice(PREPOSITIONS)
    dative = _dative(phrase)
    noun = Alignment((dative[-1],), phrase.alignment[0].english)
    return (german, *dative), (*english.split(), *phrase.english["object"]), (noun,)


def _present(rng: random.Random, verb: Verb, subject: NounPhrase, negated: bool):
    finite = _finite(verb, subject)
    end = (verb.particle,) if verb.particle else ()
    third = subject.english_third_singular
    do = "does" if third else "do"
    not_ = ("not",) if negated else ()
    auxiliary = (do, "not") if negated else ()
    predicate = verb.english_third if third and not negated else verb.english
    return finite, end, (verb.particle + finite,), auxiliary, predicate, ((do,), (*not_, verb.english))


def _perfect(rng: random.Random, verb: Verb, subject: NounPhrase, negated: bool):
    finite = "haben" if subject.plural else "habe" if subject.person == 1 else "hat"
    not_ = ("not",) if negated else ()
    auxiliary = ("did", "not") if negated else ()
    predicate = verb.english if negated else verb.english_past
    return (
        finite,
        (verb.participle,),
        (verb.participle, finite),
        auxiliary,
        predicate,
        (("did",), (*not_, verb.english)),
    )


def _modal(rng: random.Random, verb: Verb, subject: NounPhrase, negated: bool):
    modal = rng.choice(MODALS)
    finite = modal.plural if subject.plural else modal.singular
    third = subject.english_third_singular
    if negated:
        auxiliary = modal.english_third_negated if third else modal.english_negated
    else:
        auxiliary = modal.english_third if third else modal.english
    question = _modal_question(modal, third, negated)
    return (
        finite,
        (verb.infinitive,),
        (verb.infinitive, finite),
        auxiliary,
        verb.english,
        (
            question[0],
            (*question[1], verb.english),
        ),
    )


def _modal_question(modal: Modal, third: bool, negated: bool) -> tuple[Tokens, Tokens]:
    """Return the tokens before and after the subject of a question: "can … not", "does … have to"."""
    not_ = ("not",) if negated else ()
    if len(modal.english) == 1:
        return modal.english, not_
    return ("does" if third else "do",), (*not_, *modal.english)


def sentence(rng: random.Random) -> Sentence:
    """Return a random sentence: plain, with a fronted adverb, a question, or with a subordinate clause."""
    kind = rng.choices(("plain", "fronted", "question", "reason", "opinion"), (40, 20, 12, 14, 14))[0]
    first = clause(rng)
    if kind == "plain":
        return Sentence((*first.german(), "."), (*first.english(), "."), first.alignment)
    if kind == "fronted":
        german, english = rng.choice(ADVERBS)
        return Sentence((*first.german((german,)), "."), (english, *first.english(), "."), first.alignment)
    if kind == "question":
        verb = Alignment(first.verb.german, (first.verb_base,))
        return Sentence((*first.german_verb_first(), "?"), (*first.english_as_question(), "?"), (*first.nouns, verb))
    if kind == "opinion":
        return _opinion(rng, first)
    second = clause(rng)
    german, english = rng.choice(CONJUNCTIONS)
    return Sentence(
        (*first.german(), ",", german, *second.german_verb_final(), "."),
        (*first.english(), english, *second.english(), "."),
        first.alignment,
    )


def _opinion(rng: random.Random, subordinate: Clause) -> Sentence:
    german, english = rng.choice(OPINIONS)
    return Sentence(
        (*german.split(), ",", "dass", *subordinate.german_verb_final(), "."),
        (*english.split(), "that", *subordinate.english(), "."),
        subordinate.nouns,
    )


MIN_TOKENS, MAX_TOKENS = 4, 16
#: The most sentences or pairs of a split. A config of others may ask for more than anybody waits for.
MOST_PAIRS = 10**6


def sentences(seed: int) -> Iterator[Sentence]:
    """Yield distinct sentence pairs without end, of 4 to 16 tokens per side; no German or English sentence repeats."""
    rng = random.Random(seed)
    seen: set[Tokens] = set()
    while True:
        pair = sentence(rng)
        sides = (pair.german, pair.english)
        if all(MIN_TOKENS <= len(side) <= MAX_TOKENS for side in sides) and not any(side in seen for side in sides):
            seen.update(sides)
            yield pair


def write(
    folder: Path, context: PreparationContext, *, seed: int, train_pairs: int, valid_pairs: int, test_pairs: int
) -> None:
    """Write ``{train,valid,test}.{de,en}`` into ``folder``, tokenised; no sentence is in two splits.

    Raises:
        UserError: for a split without a sentence.
    """
    source = sentences(seed)
    # the held-out splits first, so that they do not depend on the size of train
    for split, count in (("test", test_pairs), ("valid", valid_pairs), ("train", train_pairs)):
        check_whole(f"data.text.{split}_pairs", count, least=1, most=MOST_PAIRS)
        pairs = [next(source) for _ in range(count)]
        for language, side in (("de", "german"), ("en", "english")):
            lines = "".join(" ".join(getattr(pair, side)) + "\n" for pair in pairs)
            (folder / f"{split}.{language}").write_text(lines, encoding="utf-8")
