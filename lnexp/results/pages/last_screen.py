"""Show what came out on one screen: runs, placement × warm-up, the answer, verdicts, where to look next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

from lnexp.errors import UNREADABLE, UserError
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.jobs import THEORY
from lnexp.result_tables import read_table
from lnexp.results.evidence.made_with import SAID
from lnexp.results.judging.tally import tally
from lnexp.results.judging.verdict_file import JudgedClaim, read_verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.pages.compare import largest_difference, made_differently, verdicts_alike
from lnexp.results.pages.contradictions import not_reproduced
from lnexp.results.pages.headline import MISSING, PAPER, ROWS, STAR, CorpusResults, answer_of, headline_corpora
from lnexp.runs.status import DONE
from lnexp.terminal import WIDTH, filled, shortened

TRAINS = "A run trains if it gets more than half of the best setting's BLEU."
#: The most lines, so that a terminal shows all of it.
LINES = 25


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
    corpora = headline_corpora(ran)
    above = [
        [*_runs(ran, results_dir, published), *_wrapped(answer_of(corpora))],
        _table(corpora),
        _wrapped(_counts(shown)),
    ]
    below = [*_agreement(ran, results_dir, published), *_next(ran, results_dir, published)]
    names = _names(ran, LINES - sum(map(len, above)) - len(below))
    parts = ["\n".join(part) for part in (*above, names, below) if part]
    spaced = "\n\n".join(parts)
    return spaced if spaced.count("\n") < LINES else "\n".join(parts)


def _wrapped(text: str) -> list[str]:
    """Return the lines of a text; none of an empty one."""
    return filled(text).split("\n") if text else []


def _runs(ran: Sequence[RecipeVerdicts], results_dir: Path, published: Path) -> list[str]:
    """Return a line on how many runs are over, have diverged and failed; a run that recipes share counts once."""
    states: dict[str, str] = {}
    for one in ran:
        path = one.path.parent / "runs.csv"
        if path.is_file():
            table = read_table(path)
            found = dict(zip(table["identity"], table["status"], strict=True))
            # what was collected before a run was over says less of it
            states |= {run: state for run, state in found.items() if states.get(run) not in DONE}
    if not states:
        return []
    count = Counter(states.values())
    done = sum(count[state] for state in DONE)
    missing = len(states) - done - count["failed"]
    more = f", {missing} not done" if missing else ""
    profiles = ", ".join(dict.fromkeys(one.profile for one in ran if one.profile != THEORY))
    whose = f"published results, profile {profiles}" if _is_same(results_dir, published) else f"profile {profiles}"
    ends = f"{count['diverged']} with a loss that is not finite; {count['failed']} ended by an error{more}"
    over = f"{done:,} of {len(states):,} runs done, {ends}"
    return _wrapped(f"{whose}: {over}")


def _table(corpora: Sequence[CorpusResults]) -> list[str]:
    """Return the table of placement × warm-up, a column a corpus, and the paper's numbers in a sentence."""
    if not corpora:
        return []
    first = ["mean BLEU of all runs (how many train)", *ROWS]
    columns = [[corpus.name, *corpus.cells] for corpus in corpora]
    while columns and _width([first, *columns]) > WIDTH:
        columns.pop()
    table = [first, *columns]
    widths = [max(map(len, column)) for column in table]
    rows = [row for row in zip(*table, strict=True) if set(row[1:]) != {MISSING}]
    lines = ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    left_out = [corpus.name for corpus in corpora[len(columns) :]]
    shown = _wrapped("; ".join(f"{corpus.name}: {corpus.size}" for corpus in corpora[: len(columns)] if corpus.size))
    return [
        *lines,
        *(_wrapped(f"not shown here: {', '.join(left_out)}") if left_out else []),
        *shown,
        *_wrapped(f"{TRAINS} {PAPER}"),
    ]


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + 2 * (len(columns) - 1)


def _counts(shown: Sequence[RecipeVerdicts]) -> str:
    return f"{tally(claim for one in shown for claim in one.content.claims).short_text}."


#: The least number of lines that contradicted and open claims have, each, where there are as many.
LEAST = 3


def _names(ran: Sequence[RecipeVerdicts], lines: int) -> list[str]:
    """Return what is contradicted, in words, and the inconclusive claims in so many lines.

    Claims are those that count; where none does, all of them by their names, with a star. Inconclusive ones have their
    numbers, or are there by their names alone, where so much of all of them fits; where nothing is contradicted, as
    many names as fit.
    """
    claims = _to_name(claim for one in ran for claim in one.content.claims)
    still_open = [claim for claim in claims if claim.verdict == "inconclusive"]
    said = [f"{sentence} ({', '.join(corpora)})" for sentence, corpora in not_reproduced(ran).items()]
    contradicted = said or [_starred(claim) for claim in claims if claim.verdict == "contradicted"]
    numbers = [
        line for claim in still_open for line in _wrapped(f"inconclusive: {_starred(claim)}, {claim.estimate_text}")
    ]
    names = _wrapped(f"inconclusive: {', '.join(map(_starred, still_open))}") if still_open else []
    most = max(min(LEAST, lines - 1), lines - LEAST) if contradicted else lines
    few = [] if contradicted else [_listed("inconclusive", list(map(_starred, still_open)), most)]
    shown = next((form for form in (numbers, names, *few) if len(form) <= most), [])
    in_words = any(not sentence.startswith("`") for sentence in said)
    title = "contradicted; found instead" if in_words else "contradicted"
    first = _listed(title, contradicted, max(1, lines - len(shown)))
    star = not all(claim.counts for claim in claims if claim.verdict != "not run")
    why = ["* does not count"] if star else []
    return [*first, *shown, *(why if len(first) + len(shown) + len(why) <= lines else [])]


def _starred(claim: JudgedClaim) -> str:
    return f"{claim.id}{STAR[claim.counts]}"


def _to_name(claims: Iterable[JudgedClaim]) -> list[JudgedClaim]:
    """Return the claims that count, of those that were judged; all where none counts."""
    everyone = list(claims)
    return [claim for claim in everyone if claim.counts and claim.verdict != "not run"] or everyone


def _listed(title: str, found: Sequence[str], lines: int) -> list[str]:
    """Return as many of these as fit into so many lines, and how many more there are."""
    if not found:
        return []
    for number in range(len(found), 0, -1):
        more = f"; and {len(found) - number} more" if number < len(found) else ""
        text = _wrapped(f"{title}: {'; '.join(found[:number])}{more}")
        if len(text) <= lines:
            return text
    return [shortened(f"{title}: {len(found)} claim{'s' * (len(found) != 1)}")]


def _agreement(ran: Sequence[RecipeVerdicts], results_dir: Path, published: Path) -> list[str]:
    """Return how many verdicts are those of the published results, how far ours are from these, and other verdicts."""
    if _is_same(results_dir, published):
        return []
    both = [(one, path) for one in ran if (path := published.joinpath(*one.path.parts[-4:])).is_file()]
    if not both:
        return ["published results: none to compare with"]
    count = 0
    differ: list[str] = []  # a claim that differs on two corpora is there twice
    for one, path in both:
        number, names = verdicts_alike(one.content, read_verdicts(path))
        count, differ = count + number, [*differ, *names]
    alike = f"published results: {count - len(differ)} of {count} verdicts alike"
    how_far = _distance([(one.path.parent, path.parent) for one, path in both])
    return [*_wrapped("; ".join([alike, *how_far])), *_listed("other verdicts", list(dict.fromkeys(differ)), 2)]


def _distance(folders: Iterable[tuple[Path, Path]]) -> list[str]:
    """Return the largest difference of an arm over folders of ours and the published ones, and the words of
    :data:`SAID` in which these differ; nothing of folders that cannot be read.
    """
    changes: list[tuple[float, str]] = []
    made: set[str] = set()
    for ours, theirs in folders:
        with suppress(UserError, *UNREADABLE):
            made |= made_differently(ours, theirs).keys()
            changes += [found] if (found := largest_difference(ours, theirs)) else []
    size, words = max(changes, default=(0.0, ""), key=itemgetter(0))
    largest = f"largest difference {words}" if size else "no arm's best score differs"
    other = f"other {', '.join(what for what in SAID if what in made)}"
    return [*([largest] if changes else []), *([other] if made else [])]


def _is_same(results_dir: Path, published: Path) -> bool:
    return results_dir.resolve() == published.resolve()


def _next(ran: Sequence[RecipeVerdicts], results_dir: Path, published: Path) -> list[str]:
    where = "" if results_dir == RESULTS_DIR else f" RESULTS={results_dir}"
    steps = [f"make report{where}", f"make verify{where} OPTIONS=--all"]
    undecided = [
        one.path.parent for one in ran if any(claim.verdict == "inconclusive" for claim in _to_name(one.content.claims))
    ]
    if undecided and not _is_same(results_dir, published):
        steps.append(f"python scripts/power.py {undecided[0]} (seeds that open claims need)")
    return _wrapped(f"next: {'; '.join(steps)}")
