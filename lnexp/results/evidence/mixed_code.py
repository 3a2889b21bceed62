"""Find arms whose runs were trained by different code, so that a mean over them is of several programs."""

import re
from collections.abc import Iterable

from lnexp.hashing import short_hash
from lnexp.printable import first_few
from lnexp.results.evidence.by_arm import counted_by_arm
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs.code import in_todays_form
from lnexp.runs.environment import Environment
from lnexp.seeds import named_seeds

#: Modules that a line names, at most.
MOST_NAMED = 3
#: A line in a page. It holds nothing but names of arms and modules, and seeds.
STATED = re.compile(r"Mixed code: (the runs of [\w.-]+ were trained by different code \([\w./, -]*\): [\w, /-]+)\.")


def code_of(environment: Environment) -> str | None:
    """Return eight hex digits of all code that trained a run; None where the run's record has no digests of it."""
    codes = _codes(environment)
    return short_hash(codes) if codes else None


def mixed_code(runs: Iterable[RunResult]) -> list[str]:
    """Return a line on each arm whose runs that are over were trained by different code, where that is known.

    A line is as ``the runs of pre_ln were trained by different code (plugin/layers.py): seeds 1, 3 / seed 2``.
    """
    known = counted_by_arm(run for run in runs if _codes(run.environment))
    return [line for of_arm in known.values() if (line := _line(of_arm))]


def stated_mixed_code(page: str) -> list[str]:
    """Return the lines of :func:`mixed_code` that a ``table.md`` has."""
    return STATED.findall(page)


def _line(runs: list[RunResult]) -> str:
    """Return the line on the runs of one arm; empty where one code trained all of them."""
    seeds: dict[str | None, list[int]] = {}
    for run in runs:
        seeds.setdefault(code_of(run.environment), []).append(run.job.seed)
    if len(seeds) == 1 and all(len(_codes(run.environment)) == 1 for run in runs):
        return ""
    names = _differing([code for run in runs for code in _codes(run.environment)])
    parts = " / ".join(map(named_seeds, seeds.values()))
    arm = runs[0].job.arm
    return f"the runs of {arm.name} were trained by different code ({first_few(names, MOST_NAMED)}): {parts}"


def _codes(environment: Environment) -> list[dict[str, str]]:
    """Return the digests of each code that trained a run, those before it was resumed by other code first."""
    code = environment.get("code")
    found = [in_todays_form(one) for one in [*environment.get("earlier_code", []), code]] if code else []
    return [one for place, one in enumerate(found) if one not in found[:place]]


def _differing(codes: list[dict[str, str]]) -> list[str]:
    """Return the modules that are not the same in all of these, by their paths below ``lnexp``."""
    names = sorted({name for code in codes for name in code})
    return [name for name in names if len({code.get(name) for code in codes}) > 1]
