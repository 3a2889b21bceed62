"""Define, write and read ``verdicts.json``: the verdicts of one recipe's claims and the numbers behind them."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lnexp.errors import UNREADABLE, UserError
from lnexp.files import write_json
from lnexp.recipes.claim import Claim
from lnexp.results.judging.judgement import ESTIMATES, FormName, Judgement, Verdict, verdict_of
from lnexp.results.statistics.intervals import Interval, Range
from lnexp.schema import read_json


@dataclass(frozen=True)
class Measured:
    """A measure of one arm: its mean over ``n`` seeds with a 95% interval; None for what is not known.

    ``extremes`` are the least and the greatest value where some runs of the arm succeed and others do not, or the
    interval reaches beyond what is possible, so that pages show them instead of the interval; None elsewhere.
    ``diverged`` is how many further runs diverged without a value. ``runs`` are the identities of the runs that it was
    taken from, seed by seed.
    """

    measure: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    extremes: list[float] | None
    diverged: int
    runs: list[str]

    def __str__(self) -> str:
        said = "–" if self.mean is None else str(self._spread(self.mean))
        lost = f", {self.diverged} of {self.n + self.diverged} runs diverged without a value" if self.diverged else ""
        return f"{said}{lost}"

    def _spread(self, mean: float) -> Interval | Range:
        if self.extremes:
            least, greatest = self.extremes
            return Range(mean, least, greatest, self.n)
        return Interval(mean, self.low, self.high, self.n)


def diverged_without_value(arms: Collection[Measured]) -> bool:
    """Return whether runs of arms diverged without a value, and each arm has any run."""
    return any(arm.diverged for arm in arms) and all(arm.n + arm.diverged for arm in arms)


def has_no_value(judged: "Judgement | JudgedClaim", seeds: int) -> bool:
    """Return whether a test has no value although every arm was measured, because it divides by a measure that is zero.

    Args:
        judged: the judgement, or the claim.
        seeds: with how many seeds every arm was measured.
    """
    # a success rate divides by nothing, and waits for arms that are not among those shown
    return judged.form != "success rate" and not judged.margins and seeds > 0


@dataclass(frozen=True, kw_only=True)
class JudgedClaim(Claim):
    """A claim, its verdict and the numbers behind it.

    Attributes:
        verdict: what the margins say, see :func:`lnexp.results.judging.judgement.verdict_of`.
        form, estimate, margins, p, exact_p: of its :class:`lnexp.results.judging.judgement.Judgement`.
        contrast: eight hex digits of the form, of the numbers that decide and of their runs, whatever arms are called;
            two claims with one contrast are one piece of evidence.
        planned: how many seeds the longest plan has, see :mod:`lnexp.results.judging.planned_seeds`.
        seeds: with how many of them every arm was measured, runs that diverged included.
        others: with how many other seeds it was judged.
        arms: what was measured, by arm, or by call where an arm is asked twice.
        command: what a reader would type for the same.
    """

    verdict: Verdict
    form: FormName
    estimate: Interval | None
    margins: list[Interval]
    p: float | None
    exact_p: float | None
    contrast: str
    planned: int
    seeds: int
    others: int
    arms: dict[str, Measured]
    command: str

    @property
    def diverged(self) -> bool:
        """Whether runs that it is about diverged without a value, so that the others decide nothing."""
        return diverged_without_value(self.arms.values())

    @property
    def undecided(self) -> str:
        """Why its margins decide nothing, in words; empty where they decide."""
        if self.diverged:
            return "not decided, because runs diverged without a value"
        if has_no_value(self, self.seeds + self.others):
            return "not decided, because its test divides by a measure that is zero; multiply the other side instead"
        return ""

    @property
    def left_out(self) -> str:
        """Why tallies do not count it, in words; empty where they do. One that was not run waits to be counted."""
        if (why := super().left_out) or self.verdict == "not run":
            return why
        if self.seeds < self.planned:
            return "fewer seeds than planned"
        return "more seeds than planned" if self.others else ""

    @property
    def standing(self) -> str:
        """When it was registered, why it cannot count, and with how many seeds it was judged, in words."""
        if not self.seeds + self.others:
            return super().standing
        others = f" and {self.others} others" if self.others else ""
        return f"{super().standing}, {self.seeds} of {self.planned} planned seeds{others}"

    @property
    def measured(self) -> dict[str, str]:
        """What was measured, for people: each mean with its interval, by call."""
        return {name if "(" in name else f"{arm.measure}({name})": str(arm) for name, arm in self.arms.items()}

    @property
    def estimate_text(self) -> str:
        """The estimate with its interval and p-value, for people."""
        if self.undecided:
            return self.undecided
        if self.estimate is None:
            return "–"
        p = "" if self.p is None else f", p {'< 0.0001' if self.p < 0.0001 else f'= {self.p:.2g}'}"
        return f"{ESTIMATES[self.form]} {self.estimate}{p}"


@dataclass(frozen=True)
class Verdicts:
    """The content of ``verdicts.json``.

    Attributes:
        recipe, figure, title: of the recipe.
        scope: what the claims were judged on, in words.
        settings: the recipe's ``settings_hash`` when they were judged.
        malformed: the runs that could not be read, and why.
        papers: whether all of it is of the paper's model on the paper's corpus, where absolute claims are judged.
        known, doubt: of the recipe.
        claims: all of the recipe's.
        command: what a reader would type for the same. In the file it stands where there are no claims, which have it.
    """

    recipe: str
    figure: str
    title: str
    scope: str
    settings: str
    malformed: list[str]
    papers: bool
    known: str
    doubt: str
    claims: list[JudgedClaim]
    command: str = ""


def write_verdicts(folder: Path, verdicts: Verdicts) -> None:
    """Write ``verdicts.json`` into a folder of results."""
    content = asdict(verdicts)
    if verdicts.claims:
        del content["command"]
    write_json(folder / "verdicts.json", content, indent=2, ensure_ascii=False, allow_nan=False)


def read_verdicts(path: Path) -> Verdicts:
    """Read a ``verdicts.json``. Raises UserError where it cannot be read, or is malformed."""
    try:
        verdicts: Verdicts = read_json(path, Verdicts)
        _check(verdicts)
    except UNREADABLE as error:
        raise UserError(f"{path}: malformed ({type(error).__name__}: {error})") from error
    return replace(verdicts, command=verdicts.claims[0].command) if verdicts.claims else verdicts


def _check(verdicts: Verdicts) -> None:
    """Raise ValueError where verdicts contradict themselves."""
    if len({claim.id for claim in verdicts.claims}) != len(verdicts.claims):
        raise ValueError("a claim is there twice")
    if verdicts.claims and verdicts.command:
        raise ValueError("a command beside those of the claims")
    for claim in verdicts.claims:
        if claim.verdict != verdict_of(claim.margins, bool(claim.undecided)):
            raise ValueError(f"{claim.id}: {claim.verdict} is not what its margins say")
