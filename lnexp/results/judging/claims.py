"""Judge claims: each has a test of measures of arms, in one of the forms of :mod:`lnexp.results.judging.forms`.

A verdict is ``reproduced``, ``contradicted`` or ``inconclusive``, as the form says. A run that diverged and has no
value of a measure, as one without a single epoch has no loss, makes it ``inconclusive``: it is a result, worse than any
value, and without its seed the claim would be judged on those runs alone that did not diverge. So does a test that
divides by a measure which is zero with some seed. The verdict is ``not
run`` where an arm has no run that is over, or where the claim is about the paper's own numbers (its scope is
``absolute``) and the runs are not of the paper's model on the paper's whole corpus.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from lnexp.hashing import short_hash
from lnexp.recipes.claim import Claim
from lnexp.recipes.grid import grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.by_arm import counted_by_arm
from lnexp.results.evidence.contract import CountedRun, Evidence
from lnexp.results.judging.forms import Form
from lnexp.results.judging.forms.base import Calls, NoValueError, Values
from lnexp.results.judging.judgement import Judgement, verdict_of
from lnexp.results.judging.questions import form_of, measures_of
from lnexp.results.judging.registration import registered
from lnexp.results.judging.verdict_file import JudgedClaim, Measured, Verdicts, diverged_without_value, has_no_value
from lnexp.results.measures.success import divided_arms
from lnexp.results.measures.sweep_measures import SWEEP_MEASURES, SweepResults, finals_of
from lnexp.results.statistics.intervals import Range, interval, spread_of
from lnexp.tasks import load_task

#: What was measured by call and seed: the value, and the identities of the runs.
Found = Mapping[str, Mapping[int, tuple[float, Sequence[str]]]]
#: The seeds whose runs diverged without a value, by call.
Lost = Mapping[str, Collection[int]]
#: Returns the least and the greatest possible value of a measure, by its name.
Bounds = Callable[[str], tuple[float, float]]


@dataclass(frozen=True)
class Origin:
    """Where evidence comes from.

    Attributes:
        profile: of its settings.
        data: the name of its corpus, or of what stands for one.
        scope: what was trained or probed, in words.
        command: what a reader would type for the same.
        commits: of the code that made it, where known.
        planned: the seeds that were planned for it; None: those of the recipe.
        malformed: the runs that could not be read, and why.
    """

    profile: str
    data: str
    scope: str
    command: str
    commits: Collection[str] = ()
    planned: range | None = None
    malformed: Sequence[str] = ()


def judge_all(recipe: Recipe, runs: Sequence[Evidence], origin: Origin) -> Verdicts:
    """Judge all claims of a recipe.

    Args:
        recipe: whose claims they are.
        runs: its runs, or what its probe found.
        origin: where those come from.
    """
    planned = recipe.planned_at(origin.profile) if origin.planned is None else origin.planned
    standing = [_standing(claim, recipe, origin) for claim in recipe.claims]
    claims = [judge(claim, recipe, runs, planned, origin.command) for claim in standing]
    over = [run for run in runs if run.counts]
    return Verdicts(
        recipe=recipe.name,
        figure=recipe.figure,
        title=recipe.title,
        scope=origin.scope,
        settings=recipe.settings_hash(origin.profile),
        malformed=list(origin.malformed),
        papers=bool(over) and all(run.is_the_papers for run in over),
        known=recipe.known_at(origin.profile),
        doubt=recipe.doubt_at(origin.profile),
        claims=claims,
        command=origin.command,
    )


def _standing(claim: Claim, recipe: Recipe, origin: Origin) -> Claim:
    """Return a claim with what is true of it on the corpus and for the commits of its evidence."""
    here = recipe.claim_on(claim, origin.data)
    # the history of a recipe of one's own is not the project's: the recipe is believed
    return here if recipe.file else replace(here, registered=registered(claim, origin.commits))


def judge(
    claim: Claim, recipe: Recipe, runs: Sequence[Evidence], planned: range | None = None, command: str = ""
) -> JudgedClaim:
    """Judge one claim on runs of its recipe, or on what its probe found; runs that are not over do not count.

    Args:
        claim: the claim.
        recipe: whose claim it is.
        runs: its runs, or what its probe found.
        planned: the seeds that were planned for them; None: those of the recipe, whatever a profile says.
        command: what a reader would type for the same.

    Raises:
        UserError: for a ``holds_if`` that cannot be read, or names an arm that the recipe lacks.
    """
    form = form_of(claim, recipe)
    judged = runs if claim.scope == "relative" else [run for run in runs if run.is_the_papers]
    found, lost = _measure(form, recipe, judged)
    values = {call: {seed: value for seed, (value, _) in by_seed.items()} for call, by_seed in found.items()}
    judgement, evidence = _judged(form, values)
    planned = recipe.planned_at("") if planned is None else planned
    shown = form.shown(values)
    measured = [values[call].keys() | lost[call] for call in shown]
    seeds = set.intersection(*measured)
    used = seeds if form.paired else set.union(*measured)
    divided = divided_arms(recipe, cast(Sequence[CountedRun], judged))
    arms = _arms(shown, found, lost, divided, _bounds_of(recipe))
    undecided = diverged_without_value(arms.values()) or has_no_value(judgement, len(seeds))
    if undecided and not judgement.margins:  # claims without numbers are not one piece of evidence, nor on two corpora
        evidence = [recipe.name, claim.holds_if, values, sorted(run.identity for run in judged if run.diverged)]
    deciding = sorted({run for call in form.deciding for run in _runs(found[call])})
    return JudgedClaim(
        **asdict(claim),
        verdict=verdict_of(judgement.margins, undecided),
        form=judgement.form,
        estimate=judgement.estimate,
        margins=judgement.margins,
        p=None if undecided else judgement.p,
        exact_p=None if undecided else judgement.exact_p,
        contrast=short_hash([judgement.form, evidence, deciding]),
        planned=len(planned),
        seeds=len(seeds.intersection(planned)),
        others=len(used.difference(planned)),
        arms=arms,
        command=command,
    )


def _judged(form: Form, values: Values) -> tuple[Judgement, list[Any]]:
    """Return what values say of a test, and the numbers that decide; no margin and no numbers where it has no value."""
    try:
        return form.judge(values), form.evidence(values)
    except NoValueError:
        return Judgement(form.name, None, [], None), []


def _measure(form: Form, recipe: Recipe, runs: Sequence[Evidence]) -> tuple[Found, Lost]:
    measures = measures_of(recipe)
    by_arm = counted_by_arm(runs)
    found: dict[str, Mapping[int, tuple[float, Sequence[str]]]] = {}
    lost: dict[str, set[int]] = {}
    swept = {call: asked for call, asked in form.calls.items() if asked[0] in SWEEP_MEASURES}
    for call, (measure, arm) in form.calls.items():
        if call in swept:
            continue
        measured = [(run, measures[measure](run)) for run in by_arm.get(arm, [])]
        found[call] = {run.job.seed: (value, [run.identity]) for run, value in measured if value is not None}
        lost[call] = {run.job.seed for run, value in measured if value is None and run.diverged}
    if swept:
        found |= _measure_sets(swept, recipe, by_arm)
    return found, lost | {call: set() for call in swept}


def _measure_sets(calls: Calls, recipe: Recipe, by_arm: Mapping[str, Sequence[Evidence]]) -> Found:
    """Return what was measured of sets of arms; a run that diverged has a value, so that none is lost."""
    grid = grid_of(recipe)
    runs = {arm: {run.job.seed: run for run in of_arm} for arm, of_arm in by_arm.items()}
    every = cast(Iterable[CountedRun], [run for of_arm in by_arm.values() for run in of_arm])
    results = SweepResults(grid, finals_of(grid, every))
    return {
        call: {
            seed: (value, [runs[arm][seed].identity for arm in results.arms(measure, of)])
            for seed, value in results.measure(measure, of).items()
        }
        for call, (measure, of) in calls.items()
    }


def _runs(of_call: Mapping[int, tuple[float, Sequence[str]]]) -> list[str]:
    return [identity for _, (_, identities) in sorted(of_call.items()) for identity in identities]


def _bounds_of(recipe: Recipe) -> Bounds:
    """Return what gives the least and the greatest possible value of a measure of a recipe."""
    if recipe.measurement:
        return lambda _: (-math.inf, math.inf)
    of_runs = load_task(recipe.task).score.bounds_of
    return lambda measure: SWEEP_MEASURES[measure].bounds if measure in SWEEP_MEASURES else of_runs(measure)


def _arms(calls: Calls, found: Found, lost: Lost, divided: Collection[str], bounds_of: Bounds) -> dict[str, Measured]:
    """Return what was measured by arm, or by call where an arm is asked twice."""
    asked = [arm for _, arm in calls.values()]
    arms = {}
    for call, (measure, arm) in calls.items():
        values = [value for value, _ in found[call].values()]
        mean, spread = interval(values), spread_of(values, arm in divided, *bounds_of(measure))
        numbers = asdict(mean) if mean else {"mean": None, "low": None, "high": None, "n": 0}
        extremes = [spread.least, spread.greatest] if isinstance(spread, Range) else None
        name = arm if asked.count(arm) == 1 else call
        arms[name] = Measured(measure, **numbers, extremes=extremes, diverged=len(lost[call]), runs=_runs(found[call]))
    return arms
