"""Collect all verdicts under ``results/``, and find where they differ from what the recipes state."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.recipes.claim import Claim
from lnexp.recipes.load import load_recipe, recipe_names, recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import result_folders
from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.questions import check_claims
from lnexp.results.judging.verdict_file import Verdicts, read_verdicts

#: What a recipe states of a claim: a published verdict must have been found by this very test, and show its reasons.
#: Whether it counts is said again of the runs it was judged on.
STATED = [field.name for field in fields(Claim) if field.name not in ("registered", "exploratory")]


@dataclass(frozen=True)
class RecipeVerdicts:
    """The verdicts of one recipe on one corpus.

    Attributes:
        path: of its ``verdicts.json``.
        content: of that file; where the recipe was not run, of the file that would say so.
        was_run: whether there is such a file.
    """

    path: Path
    content: Verdicts
    was_run: bool = True

    @property
    def profile(self) -> str:
        return self.path.resolve().parts[-4]

    @property
    def data(self) -> str:
        return self.path.resolve().parts[-3]

    @property
    def recipe(self) -> str:
        return self.content.recipe

    @property
    def place(self) -> str:
        """Its folder below the root of all results."""
        return f"{self.profile}/{self.data}/{self.recipe}"

    def has(self, **wanted: Collection[str] | None) -> bool:
        """Return whether its ``profile``, ``data`` and ``recipe`` are among these; None stands for any."""
        return all(values is None or getattr(self, key) in values for key, values in wanted.items())

    def _counted(self) -> set[str]:
        return {claim.id for claim in self.content.claims if claim.counts}

    @property
    def problems(self) -> list[str]:
        """What is malformed in the runs behind it, and where it differs from what the recipe states."""
        found = [f"{self.path.parent}: {problem}" for problem in self.content.malformed]
        try:
            recipe = recipe_of_results(self.path.parent, self.recipe)
            settings = recipe.settings_hash(self.profile)
        except UserError as error:
            return [*found, f"{self.path}: {error}"]
        planned = min((claim.planned for claim in self.content.claims), default=0)
        if _tests(recipe.claims) != _tests(self.content.claims) or 0 < planned < len(recipe.planned_at(self.profile)):
            found.append(f"{self.path}: its claims are not those of {self.recipe}; python scripts/judge.py")
        elif counted := self._counted() - _counted(recipe, self.data):
            found.append(f"{self.path}: {', '.join(sorted(counted))}: must not count; python scripts/judge.py")
        again = "probe again" if recipe.measurement else "train and collect again"
        if self.content.settings != settings:
            found.append(f"{self.path}: its arms are not those of recipe {self.recipe}; {again}")
        return found


def _counted(recipe: Recipe, data: str) -> set[str]:
    """Return the claims that can count on a corpus."""
    return {claim.id for claim in recipe.claims if recipe.claim_on(claim, data).counts}


def _tests(claims: Iterable[Claim]) -> dict[str, list[Any]]:
    """Return what a recipe states of its claims, by their names."""
    return {claim.id: [getattr(claim, key) for key in STATED] for claim in claims}


def all_verdicts(results_dir: Path) -> list[RecipeVerdicts]:
    """Read every ``verdicts.json``. Raises UserError for one that is malformed."""
    paths = [folder / "verdicts.json" for folder in result_folders(results_dir)]
    return [RecipeVerdicts(path, read_verdicts(path)) for path in paths]


def readable_verdicts(results_dir: Path) -> tuple[list[RecipeVerdicts], list[str]]:
    """Return every ``verdicts.json`` that can be read, and why others cannot."""
    found, problems = [], []
    for path in (folder / "verdicts.json" for folder in result_folders(results_dir)):
        try:
            found.append(RecipeVerdicts(path, read_verdicts(path)))
        except UserError as error:
            problems.append(str(error))
    return found, problems


def sound_recipes(names: Collection[str] = ()) -> tuple[list[Recipe], list[str]]:
    """Return the recipes whose claims can be judged, and of each other one why it cannot be read or judged.

    Args:
        names: of recipes; those that ``recipes/`` does not have are passed over. Empty: all.
    """
    sound, problems = [], []
    for name in recipe_names():
        if names and name not in names:
            continue
        try:
            recipe = load_recipe(name)
            check_claims(recipe)
            sound.append(recipe)
        except UserError as error:
            problems.append(f"recipe {name}: {error}")
    return sound, problems


def not_run(results_dir: Path, found: list[RecipeVerdicts], recipes: Sequence[Recipe]) -> list[RecipeVerdicts]:
    """Return which of the recipes have no results on their own corpus, by profile: all their claims are ``not run``.

    Args:
        results_dir: the root of all results.
        found: all verdicts there.
        recipes: those of :func:`sound_recipes`.
    """
    there = {(verdicts.profile, verdicts.data, verdicts.recipe) for verdicts in found}
    missing = []
    for recipe in recipes:
        for profile, setting in recipe.profiles.items():
            if (profile, setting.data, recipe.name) not in there:
                path = results_dir / profile / setting.data / recipe.name / "verdicts.json"
                missing.append(RecipeVerdicts(path, _nothing(recipe, profile, setting.data), was_run=False))
    return missing


def _nothing(recipe: Recipe, profile: str, data: str) -> Verdicts:
    """Return the verdicts of a recipe that was not run."""
    how = f"reproduce.py +recipe={recipe.name} profile={profile} data={data}"
    if recipe.measurement:
        how = f"probe.py +recipe={recipe.name}"
    return judge_all(recipe, [], Origin(profile, data, f"profile {profile}, data {data}", f"python scripts/{how}"))
