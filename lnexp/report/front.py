"""Make the first screen of the page: the answer, placement × warm-up by corpus, the first claims as a forest plot."""

from collections.abc import Sequence
from dataclasses import dataclass

from lnexp.report.sections import Section, by_title
from lnexp.results.judging.claimants import by_claimant
from lnexp.results.judging.marks import MARKS, mark_of
from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.pages.contradictions import not_reproduced
from lnexp.results.pages.headline import CLAIMS, PAPER, ROWS, CorpusResults, answer_of, headline_corpora
from lnexp.results.statistics.intervals import Interval

NOT_RUN = MARKS["not run"]


@dataclass(frozen=True)
class Mark:
    """A claim's verdict on one corpus.

    Attributes:
        corpus: its name.
        sign: ``✓``, ``✗``, ``?`` or ``–``, in parentheses where tallies do not count it.
        words: the verdict and, where it does not count, why.
        counts: whether tallies count it.
        margin: by how much the condition that is nearest to failing holds; None where nothing was measured.
        anchor: of the section that has it; empty where there is none.
    """

    corpus: str
    sign: str
    words: str
    counts: bool
    margin: Interval | None
    anchor: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim and its verdict on each corpus.

    Attributes:
        words: the claim, for people.
        marks: one a corpus.
    """

    words: str
    marks: list[Mark]

    @property
    def reach(self) -> float:
        """The greatest distance of an end of any margin from zero, by which a plot is scaled."""
        margins = [mark.margin for mark in self.marks if mark.margin]
        return max((abs(end) for margin in margins for end in _ends(margin)), default=0) or 1.0

    @property
    def disagrees(self) -> bool:
        """Whether it is reproduced on one corpus and contradicted on another."""
        return {"✓", "✗"} <= {mark.sign.strip("()") for mark in self.marks}


@dataclass(frozen=True)
class RecipeMatrix:
    """The claims of a recipe that were judged, by corpus.

    Attributes:
        title: of the recipe.
        rows: its claims.
    """

    title: str
    rows: list[ClaimRow]


@dataclass(frozen=True)
class Front:
    """The first screen, and the matrix of all claims.

    Attributes:
        answer: in a sentence or two; empty where nothing answers the question.
        corpora: the columns of its tables.
        rows: placement and warm-up, and the cell of each corpus.
        claims: the first claims.
        every_claim: all claims that were judged, by recipe.
        contradicted: what was found instead of claims, in sentences, with the corpora, by whose claims they are.
        quoted: the paper's numbers in a sentence.
    """

    answer: str
    corpora: list[CorpusResults]
    rows: list[tuple[str, list[str]]]
    claims: list[ClaimRow]
    every_claim: list[RecipeMatrix]
    contradicted: dict[str, dict[str, list[str]]]
    quoted: str = PAPER

    @property
    def disagreements(self) -> list[ClaimRow]:
        """The claims that corpora disagree on."""
        return [row for recipe in self.every_claim for row in recipe.rows if row.disagrees]


def front_of(sections: Sequence[Section]) -> Front:
    """Return the first screen of the results of one place."""
    ran = [section for section in sections if section.verdicts and section.was_run]
    verdicts = [section.verdicts for section in ran if section.verdicts]
    corpora = headline_corpora(verdicts)
    first = [ClaimRow(words, [_first_mark(corpus, name, ran) for corpus in corpora]) for words, name in CLAIMS.items()]
    return Front(
        answer_of(corpora),
        corpora,
        [(row, [corpus.cells[number] for corpus in corpora]) for number, row in enumerate(ROWS)],
        [row for row in first if any(mark.sign != NOT_RUN for mark in row.marks)],
        _by_recipe(ran),
        {name: said for name, of_one in by_claimant(verdicts).items() if (said := not_reproduced(of_one))},
    )


def _first_mark(corpus: CorpusResults, name: str, ran: Sequence[Section]) -> Mark:
    place = f"{corpus.profile}/{corpus.data}/{name.partition('/')[0]}"
    anchor = next((section.anchor for section in ran if section.name == place), "")
    return _mark(corpus.name, corpus.claim(name), anchor)


def _mark(corpus: str, claim: JudgedClaim | None, anchor: str) -> Mark:
    if claim is None or claim.verdict == "not run":
        return Mark(corpus, NOT_RUN, "not run", False, None, anchor)
    words = f"{corpus}: {claim.verdict}, {claim.estimate_text}"
    if claim.left_out:
        words += f"; does not count: {claim.left_out}"
    margin = min(
        claim.margins, key=lambda margin: min(_ends(margin)), default=None
    )  # of an undecided one there is none
    return Mark(corpus, mark_of(claim), words, claim.counts, margin, anchor)


def _ends(margin: Interval) -> list[float]:
    """Return the ends of an interval and its middle; of a single value, that."""
    return [end for end in (margin.low, margin.mean, margin.high) if end is not None]


def _by_recipe(ran: Sequence[Section]) -> list[RecipeMatrix]:
    """Return the claims that were judged, by recipe; its columns are the corpora that it was run on."""
    recipes = []
    for title, same in by_title(ran):
        listed = [{claim.id: claim for claim in section.claims if claim.verdict != "not run"} for section in same]
        rows = [
            ClaimRow(
                name,
                [
                    _mark(section.corpus, claims.get(name), section.anchor)
                    for section, claims in zip(same, listed, strict=True)
                ],
            )
            for name in dict.fromkeys(name for claims in listed for name in claims)
        ]
        if rows:
            recipes.append(RecipeMatrix(title, rows))
    return recipes
