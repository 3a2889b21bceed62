"""Hold a run's row of ``runs.csv`` and its published settings against each other, its arm and its command."""

import re
import shlex
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.verifying.asked_settings import asked_settings

#: What the place and the row of a run say of options of the same name.
COLUMNS = ("profile", "lr_max", "warmup_updates", "seed")
#: Columns that say which file was chosen for a group of the same name, in their first word.
FILES = ("model", "optimizer", "lr_schedule")


def denied_by_settings(run: PublishedRun) -> list[str]:
    """Return what the place and the row of a run say other than the settings it was trained with, as ``lr_max``."""
    if not run.settings:
        return ["its settings are missing"]
    stated = {**run.end, "seed": run.job.seed, "profile": run.job.profile}
    wrong = [name for name in COLUMNS if stated.get(name) != run.settings.get(name)]
    form = run.settings.get("lr_schedule.form")
    if form and f"({form})" not in str(stated.get("lr_schedule")):
        wrong.append("lr_schedule")
    return wrong


def denied_by_arm(run: PublishedRun) -> list[str]:
    """Return what a run states of its settings other than its arm asks for, as ``model``."""
    return _unlike(run, run.job.overrides)


def denied_by_command(run: PublishedRun) -> list[str]:
    """Return what a run states of its settings other than its command asks for; ``command`` where it trains nothing, or
    a shell would do more than it says.

    Raises:
        ValueError: for a command that is no shell's, or what :func:`asked_settings` refuses.
    """
    words = plain_words(run.command)
    if words[:2] != ("python", "scripts/train.py") or any(map(STARTS_MORE.search, words[2:])):
        return ["command"]
    return _unlike(run, words[2:])


#: Words by which Hydra starts something else than a training, or reads other files.
STARTS_MORE = re.compile(r"^-|^[+~\s]*hydra\b|_target_")


@lru_cache(maxsize=4096)  # each command is read in several ways, one way for all runs of a folder before the next
def plain_words(command: str) -> tuple[str, ...]:
    """Return the words of a command that a shell runs as it stands; none where it would expand one, or run another too.

    Raises:
        ValueError: where a quotation does not end.
    """
    words = shlex.split(command)
    return tuple(words) if shlex.join(words) == command else ()


def asked_by_command(run: PublishedRun) -> dict[str, Any]:
    """Return the settings that the command of a run asks for. Raises ValueError as :func:`denied_by_command`."""
    return _asked(run, plain_words(run.command)[2:])


def denied_by_environment(run: PublishedRun) -> list[str]:
    """Return ``device`` where a run's row and ``provenance.json`` name different ones."""
    named = run.environment.get("device")
    return ["device"] if named is not None and run.end.get("device", named) != named else []


def _unlike(run: PublishedRun, overrides: Iterable[str]) -> list[str]:
    """Return the options that a run states and overrides set to something else."""
    files = {f"{name}._name": str(run.end.get(name)).partition(" ")[0] for name in FILES}
    stated = {**run.settings, **files, "profile._name": run.job.profile}
    asked = _asked(run, overrides)
    return [name.removesuffix("._name") for name, value in asked.items() if name in stated and stated[name] != value]


def _asked(run: PublishedRun, overrides: Iterable[str]) -> dict[str, Any]:
    own = f"seed={run.job.seed}"  # asked for apart, so that the rest is the same for all runs of an arm
    return asked_settings(tuple(override for override in overrides if override != own), run.job.profile)
