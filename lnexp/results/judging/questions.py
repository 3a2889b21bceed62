"""Say what the claims of a recipe can ask, and read their tests."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from lnexp.docstrings import returned_by
from lnexp.errors import UserError
from lnexp.recipes.claim import Claim
from lnexp.recipes.grid import grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.judging.forms import Form, Question, parse
from lnexp.results.judging.forms.base import Measures
from lnexp.results.measures.probe_measures import PROBE_MEASURES
from lnexp.results.measures.success import success_of
from lnexp.results.measures.sweep_measures import SWEEP_MEASURES, sets_of
from lnexp.tasks import load_task, task_names
from lnexp.tasks.measures import measures_of as measures_of_task


def measures_of(recipe: Recipe) -> Measures:
    """Return the measures that a recipe's claims can ask, of runs or of what its probe found."""
    return PROBE_MEASURES if recipe.measurement else measures_of_task(load_task(recipe.task))


def measures_in_words() -> dict[tuple[str, str], list[str]]:
    """Return all measures that claims can ask, each with what it is, and of what it is asked: runs of a task, or a
    probe."""
    asked: dict[str, Measures] = {f"runs, task {name}": measures_of_task(load_task(name)) for name in task_names()}
    asked["a probe"] = PROBE_MEASURES
    found: dict[tuple[str, str], list[str]] = {}
    for of, measures in asked.items():
        for name, measure in measures.items():
            found.setdefault((name, returned_by(measure)), []).append(of)
    return found | {(name, returned_by(one.of)): ["arms of a sweep"] for name, one in SWEEP_MEASURES.items()}


def question_of(recipe: Recipe) -> Question:
    """Return what the tests of a recipe's claims may ask."""
    success = None if recipe.measurement else success_of(recipe)
    return Question(measures_of(recipe), recipe.arms, success, _sets(recipe))


def _sets(recipe: Recipe) -> dict[str, Collection[str]]:
    """Return the names of the sets of arms that each measure of several arms can be asked of."""
    if not recipe.sweep:
        return {}
    grid = grid_of(recipe)
    return {name: sets_of(grid, name) for name in SWEEP_MEASURES}


def form_of(claim: Claim, recipe: Recipe) -> Form:
    """Return the test of a claim. Raises UserError where it cannot be read, or asks for what the recipe lacks."""
    return _asked(claim, question_of(recipe))


def _asked(claim: Claim, question: Question) -> Form:
    with _named(claim):
        return parse(claim.holds_if, question)


@contextmanager
def _named(claim: Claim) -> Iterator[None]:
    """Begin the message of an error with the id of the claim."""
    try:
        yield
    except UserError as error:
        raise UserError(f"claim {claim.id}: {error}") from None


def check_claims(recipe: Recipe) -> None:
    """Refuse a recipe with a claim that cannot be judged, as before its runs are trained. Raises UserError."""
    question = question_of(recipe)
    for claim in recipe.claims:
        _asked(claim, question)
