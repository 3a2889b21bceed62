"""Show what came out on one screen: runs, placement × warm-up, the answer, verdicts, where to look next."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lnexp.errors import UserError
from lnexp.paths import RESULTS_DIR
from lnexp.published import read_table
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import THEORY
from lnexp.results.compare import verdicts_alike
from lnexp.results.published_folder import PublishedFolder
from lnexp.results.tally import tally
from lnexp.results.verdict_file import JudgedClaim, read_verdicts
from lnexp.results.verdicts import RecipeVerdicts
from lnexp.runs.folder import DONE
from lnexp.tasks import load_task
from lnexp.terminal import WIDTH, filled, shortened

#: The most lines, so that a terminal shows all of it.
LINES = 25

#: The table's rows, and the arms that each can be taken from, ``recipe/arm``, all at the lower lr_max: the first there.
ROWS = {
    "Post-LN, no warm-up": ("fig4ab/post_ln_adam", "fig2a/no_warmup_low", "factorial/post_ln_adam_none_low"),
    "Post-LN, full warm-up": ("fig4ab/post_ln_adam_warmup", "fig2a/warmup_low", "factorial/post_ln_adam_full_low"),
    "Pre-LN, no warm-up": ("fig4ab/pre_ln_adam", "factorial/pre_ln_adam_none_low"),
    "Pre-LN, full warm-up": ("factorial/pre_ln_adam_full_low",),
}
#: The claims that state the paper's number for a row of the table, ``recipe/claim``.
PAPER = {
    "Post-LN, no warm-up": "fig2a/fig2a-bleu-without-warmup",
    "Post-LN, full warm-up": "fig2a/fig2a-bleu-with-warmup",
    "Pre-LN, no warm-up": "fig4ab/fig4ab-pre-ln-bleu",
}
#: The two halves of the answer, and the claim of each.
ANSWER = {
    "without it Post-LN fails": "fig4ab/fig4ab-placement-decides",
    "without it Pre-LN trains": "fig4ab/fig4ab-pre-ln-trains",
}
MISSING = "–"
#: Marks claims, by whether tallies count them.
STAR = {True: "", False: "*"}


@dataclass(frozen=True)
class Corpus:
    """The results at one profile on one corpus.

    Attributes:
        profile, data: which.
        recipes: the verdicts of each recipe that was run there, by its name.
    """

    profile: str
    data: str
    recipes: dict[str, RecipeVerdicts]

    def cell(self, arms: Iterable[str]) -> str:
        """Return the mean best score of the first arm that has runs, and how many train, as ``12.6 (1 of 10)``."""
        for recipe, _, arm in (name.partition("/") for name in arms):
            if recipe not in self.recipes:
                continue
            folder = PublishedFolder(self.recipes[recipe].path.parent)
            try:
                score = load_task(folder.recipe.task).score
                return f"{folder.mean(f'best_{score.name}', arm, score.places)} ({folder.trained(arm)})"
            except (UserError, OSError, KeyError):
                continue
        return MISSING

    def claim(self, name: str) -> JudgedClaim | None:
        """Return a claim, ``recipe/claim``; None where it was not judged here."""
        recipe, _, wanted = name.partition("/")
        claims = self.recipes[recipe].content.claims if recipe in self.recipes else []
        return next((claim for claim in claims if claim.id == wanted and claim.verdict != "not run"), None)

    @cached_property
    def cells(self) -> list[str]:
        """The column of the table."""
        return [self.cell(arms) for arms in ROWS.values()]

    @cached_property
    def answer(self) -> list[str]:
        """The verdicts of the claims that the answer is made of, with a star where tallies do not count them."""
        claims = [self.claim(name) for name in ANSWER.values()]
        return [f"{claim.verdict}{STAR[claim.counts]}" if claim else MISSING for claim in claims]


def last_screen(shown: Sequence[RecipeVerdicts], results_dir: Path, published: Path) -> str:
    """Return at most :data:`LINES` lines of at most :data:`lnexp.terminal.WIDTH` characters.

    Args:
        shown: the verdicts to show, also of recipes that were not run.
        results_dir: where they lie.
        published: where the published results lie, which they are compared with, if these are others.
    """
    ran = [one for one in shown if one.was_run]
    if not ran:
        return filled(f"Nothing was run yet: {_counts(shown)}")
    corpora = [corpus for corpus in _corpora(ran) if any(cell != MISSING for cell in corpus.cells)]
    corpora.sort(key=lambda corpus: "*" in "".join(corpus.answer))  # what counts first
    above = [_runs(ran), _table(corpora), [*_answer(corpora), *_wrapped(_counts(shown))]]
    below = [*_agreement(ran, results_dir, published), *_next(results_dir)]
    names = _names(ran, LINES - sum(map(len, above)) - len(below))
    parts = ["\n".join(part) for part in (*above, names, below) if part]
    spaced = "\n\n".join(parts)
    return spaced if spaced.count("\n") < LINES else "\n".join(parts)


def _wrapped(text: str) -> list[str]:
    return filled(text).split("\n")


def _corpora(ran: Sequence[RecipeVerdicts]) -> list[Corpus]:
    found: dict[tuple[str, str], dict[str, RecipeVerdicts]] = {}
    for one in ran:
        found.setdefault((one.profile, one.data), {})[one.recipe] = one
    return [Corpus(profile, data, recipes) for (profile, data), recipes in found.items()]


def _runs(ran: Sequence[RecipeVerdicts]) -> list[str]:
    """Return a line on how many runs are done, have diverged and failed; a run that recipes share counts once."""
    states: dict[str, str] = {}
    for one in ran:
        path = one.path.parent / "runs.csv"
        if path.is_file():
            table = read_table(path)
            states |= dict(zip(table["identity"], table["status"], strict=True))
    if not states:
        return []
    count = Counter(states.values())
    done = sum(count[state] for state in DONE)
    missing = len(states) - done - count["failed"]
    more = f", {missing} not done" if missing else ""
    profiles = ", ".join(dict.fromkeys(one.profile for one in ran if one.profile != THEORY))
    over = f"{done:,} done, {count['diverged']} of them diverged; {count['failed']} failed{more}"
    return _wrapped(f"profile {profiles}: {len(states):,} runs, {over}")


def _table(corpora: Sequence[Corpus]) -> list[str]:
    """Return the table of placement × warm-up, a column a corpus and one of the paper's numbers."""
    if not corpora:
        return []
    first = ["best BLEU (runs that train)", *ROWS, *ANSWER]
    paper = ["the paper", *(_papers(PAPER.get(row)) for row in ROWS), *("" for _ in ANSWER)]
    columns = [[corpus.data, *corpus.cells, *corpus.answer] for corpus in corpora]
    while columns and _width([first, *columns, paper]) > WIDTH:
        columns.pop()
    table = [first, *columns, paper]
    widths = [max(map(len, column)) for column in table]
    rows = [[f"{text:<{width}}" for text, width in zip(row, widths, strict=True)] for row in zip(*table, strict=True)]
    lines = ["  ".join(row).rstrip() for row in rows]
    left_out = [corpus.data for corpus in corpora[len(columns) :]]
    return [*lines, *(_wrapped(f"not shown here: {', '.join(left_out)}") if left_out else [])]


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + 2 * (len(columns) - 1)


def _papers(claim: str | None) -> str:
    """Return the number that a recipe quotes of the paper in a claim, ``recipe/claim``."""
    if claim is None:
        return MISSING
    recipe, _, wanted = claim.partition("/")
    (number,) = next(one for one in load_recipe(recipe).claims if one.id == wanted).paper.values()
    return str(number)


def _answer(corpora: Sequence[Corpus]) -> list[str]:
    """Return the answer in a sentence: on how many corpora all its claims are reproduced."""
    judged = [corpus for corpus in corpora if MISSING not in corpus.answer]
    if not judged:
        return []
    by_verdict: dict[str, list[str]] = {}
    for corpus in judged:
        verdicts = {verdict.rstrip("*") for verdict in corpus.answer}
        worst = next(one for one in ("contradicted", "inconclusive", "reproduced") if one in verdicts)
        by_verdict.setdefault(worst, []).append(corpus.data)
    said = "; ".join(f"{verdict} on {', '.join(names)}" for verdict, names in by_verdict.items())
    return _wrapped(f"Answer: Post-LN needs warm-up, Pre-LN does not: {said}.")


def _counts(shown: Sequence[RecipeVerdicts]) -> str:
    said = tally(claim for one in shown for claim in one.content.claims).short_text
    return f"{said}. Not counted (*): registered after the runs, fewer seeds than planned, or exploratory."


#: The least number of lines that the names of open claims have.
OPEN = 3


def _names(ran: Sequence[RecipeVerdicts], lines: int) -> list[str]:
    """Return the contradicted claims by name, and the open ones, in so many lines: first those that count."""
    claims = sorted((claim for one in ran for claim in one.content.claims), key=lambda claim: not claim.counts)
    contradicted, still_open = (
        Counter(f"{claim.id}{STAR[claim.counts]}" for claim in claims if claim.verdict == verdict)
        for verdict in ("contradicted", "inconclusive")
    )
    first = _listed("contradicted", contradicted, max(1, lines - min(OPEN, len(still_open))))
    return [*first, *_listed("open", still_open, max(1, lines - len(first)))]


def _listed(title: str, found: Mapping[str, int], lines: int) -> list[str]:
    """Return names, with how often each is there, in so many lines; those that do not fit are counted."""
    if not found:
        return []
    names = [f"{name} ×{number}" if number > 1 else name for name, number in found.items()]
    for number in range(len(names), 0, -1):
        more = f" and {len(names) - number} more" if number < len(names) else ""
        text = _wrapped(f"{title}: {', '.join(names[:number])}{more}")
        if len(text) <= lines:
            return text
    return [shortened(f"{title}: {len(names)} claims")]


def _agreement(ran: Sequence[RecipeVerdicts], results_dir: Path, published: Path) -> list[str]:
    """Return how many verdicts are those of the published results, and the names of the others."""
    if results_dir.resolve() == published.resolve():
        return []
    both = 0
    differ: list[str] = []
    for one in ran:
        path = published.joinpath(*one.path.parts[-4:])
        if path.is_file():
            number, names = verdicts_alike(one.content, read_verdicts(path))
            both, differ = both + number, [*differ, *names]
    alike = f"published results: {both - len(differ)} of {both} verdicts alike"
    if not both:
        return ["published results: none to compare with"]
    return _listed(f"{alike}; other", Counter(differ), 2) or [alike]


def _next(results_dir: Path) -> list[str]:
    where = "" if results_dir == RESULTS_DIR else f" RESULTS={results_dir}"
    return _wrapped(f"next: make report{where} (figures); make verify{where} OPTIONS=--all (every claim)")
