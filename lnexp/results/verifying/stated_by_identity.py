"""Compose published commands again, and compare what they train with the identities and settings that are stated.

A config takes a tenth of a second, so that this is done only where it is asked for.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from lnexp.configuration import compose
from lnexp.errors import UNREADABLE, UserError
from lnexp.numerics import asking_for, numerics_of
from lnexp.plain import plain
from lnexp.printable import one_line
from lnexp.recipes.load import recipe_of_results
from lnexp.results.evidence.provenance import chosen
from lnexp.results.evidence.published_evidence import PublishedRun, published_evidence
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.runs.identity import identities

#: What stands in a command for a place on the machine that made the runs.
ELSEWHERE = "=PATH"
#: Settings that are each run's own; identities are of them.
OF_THE_SEED = ("seed", "order_seed")


def denied_by_identity(one: RecipeVerdicts) -> str | None:
    """Return, in one line, which runs of a folder are not those that their commands train; None where all are.

    Runs of text that lies elsewhere, which a command has as ``PATH``, are left out: nothing can be composed of it.
    """
    folder = one.path.parent
    try:
        wrong = [run for words, runs in _by_command(folder, one).items() for run in _others(words, runs)]
    except (UserError, HydraException, OmegaConfBaseException, *UNREADABLE) as error:
        return f"{folder}: its commands cannot be composed ({type(error).__name__}: {one_line(str(error))})"
    if not wrong:
        return None
    first, more = wrong[0], f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return f"{folder}: not the runs that their commands train: {first.job.arm.name} seed {first.job.seed}{more}"


def _by_command(folder: Path, one: RecipeVerdicts) -> dict[tuple[str, ...], list[PublishedRun]]:
    """Return the runs that are over by the words of their command, the seed left out."""
    recipe = recipe_of_results(folder, one.recipe)
    runs: dict[tuple[str, ...], list[PublishedRun]] = {}
    for run in () if recipe.measurement else published_evidence(recipe, folder, one.content.papers):
        if isinstance(run, PublishedRun) and run.counts and ELSEWHERE not in run.command:
            words = shlex.split(run.command)[2:]
            runs.setdefault(tuple(word for word in words if word != f"seed={run.job.seed}"), []).append(run)
    return runs


def _others(words: Sequence[str], runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    """Return those of some runs that have another identity, or other settings, than their command gives, each by its
    own version of the numerics.
    """
    by_version: dict[int, list[PublishedRun]] = {}
    for run in runs:
        by_version.setdefault(numerics_of(run.environment), []).append(run)
    return [run for version, of_it in by_version.items() for run in _others_of_version(words, of_it, version)]


def _others_of_version(words: Sequence[str], runs: Sequence[PublishedRun], version: int) -> list[PublishedRun]:
    cfg = compose(words)
    given = identities(cfg, [run.job.seed for run in runs], version)
    cfg.seed = runs[0].job.seed
    with asking_for(version):
        settings = {name: value for name, value in chosen(plain(cfg)) if name not in OF_THE_SEED}
    return [run for run, name in zip(runs, given, strict=True) if run.identity != name or _has_others(run, settings)]


def _has_others(run: PublishedRun, settings: Mapping[str, Any]) -> bool:
    stated = ((run.settings[name], value) for name, value in settings.items() if name in run.settings)
    return any(one != other for one, other in stated)
