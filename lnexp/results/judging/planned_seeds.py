"""Find out which seeds were planned when runs were made: a plan that is lowered afterwards is none."""

from collections.abc import Collection
from typing import Any

import yaml

from lnexp.paths import RECIPES_DIR
from lnexp.plain_yaml import load_yaml
from lnexp.recipes.recipe import Recipe
from lnexp.results.judging.history import contains, file_at


def planned_seeds(recipe: Recipe, profile: str, commits: Collection[str], recorded: range | None = None) -> range:
    """Return the seeds that a claim has to be judged on to count.

    They are those of the longest plan that is known, of equally long ones the oldest: of the recipe as it stood at the
    commits of the code that made the runs, the one that was recorded when these were first collected, and the recipe of
    today. So neither fewer seeds nor others can be planned once results are known, and where more are planned, earlier
    results no longer count.

    Args:
        recipe: the recipe of today. Git knows nothing of one of one's own.
        profile: of the runs.
        commits: of the code that made them.
        recorded: see :func:`lnexp.results.evidence.provenance.recorded_plan`.
    """
    known = [] if recipe.file else [_plan_at(commit, recipe.name, profile) for commit in _oldest_first(commits)]
    return max((plan for plan in (*known, recorded, recipe.planned_at(profile)) if plan), key=len)


def _oldest_first(commits: Collection[str]) -> list[str]:
    """Return commits of one line of history, each after those that it has in its own."""
    return sorted(commits, key=lambda commit: sum(contains(commit, other) for other in commits))


def _plan_at(commit: str, name: str, profile: str) -> range | None:
    """Return the seeds that a recipe planned at a commit; None where it had no such profile, or was not there."""
    content = _content_at(commit, name)
    setting = content.get("profiles", {}).get(profile)
    if setting is None:
        return None
    first, count = (content[key] if setting.get(key) is None else setting[key] for key in ("first_seed", "n_seeds"))
    return range(first, first + count)


def _content_at(commit: str, name: str) -> dict[str, Any]:
    """Return the content of a recipe's file at a commit, with that of the recipe that it is a variant of."""
    text = file_at(commit, f"{RECIPES_DIR.name}/{name}.yaml")
    try:
        content = load_yaml(text) if text else {}
    except yaml.YAMLError:
        return {}
    if "variant" in content:
        return {**_content_at(commit, content["variant"]["of"]), **content}
    return content
