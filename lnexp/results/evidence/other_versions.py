"""Say whether runs that a recipe lacks are here as another version of the numerics."""

from lnexp.numerics import FIRST, NUMERICS
from lnexp.options import key_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.run_result import RunResult


def other_versions(recipe: Recipe, overrides: list[str], runs: list[RunResult], numerics: int) -> list[str]:
    """Return a line for each other version by which the first arm that lacks a run here has one; none where none lacks
    a run.

    A line is as ``runs of version 2 of the numerics are here, too; --numerics=2 takes them``.

    Args:
        recipe: what was trained.
        overrides: the command-line overrides that the runs were launched with.
        runs: all runs of the recipe.
        numerics: the version that they are of.
    """
    missing = [run for run in runs if run.path is None and not run.counts]
    if not missing:
        return []
    arm = missing[0].job.arm
    lacking = recipe.with_arms({arm.name: arm})
    rest = [option for option in overrides if key_of(option) != "arms"]
    return [
        f"runs of version {version} of the numerics are here, too; --numerics={version} takes them"
        for version in range(FIRST, NUMERICS + 1)
        if version != numerics and any(run.path for run in collect(lacking, rest, version))
    ]
