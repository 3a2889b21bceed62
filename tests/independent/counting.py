"""Count verdicts without the package: which of them count, which survive Holm's correction, and the sentence on it."""

import subprocess
from dataclasses import dataclass
from functools import cache

from judging import Judged
from recipe_files import ROOT

ORDER = ("reproduced", "contradicted", "inconclusive", "not run")


@dataclass
class Counted:
    """A judged claim: ``why_not`` says why tallies leave it out; empty where they do not."""

    judged: Judged
    why_not: str


def registered(claim, folder):
    """Return whether the code that made the results had a claim."""
    known = all(git_says("merge-base", "--is-ancestor", claim["since"], commit) for commit in folder.commits)
    return claim["registered"] if known or not git_says("rev-parse", "HEAD") else "after"


@cache
def git_says(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False).returncode == 0


def tally(counted):
    """Return the sentence on claims, in the order of pages."""
    verdicts, left_out, seen, p_values = dict.fromkeys(ORDER, 0), {}, set(), []
    for one in counted:
        found = one.judged
        why = one.why_not or ("decided by the numbers of another claim" if found.decided_by in seen else "")
        if why:
            left_out[why] = left_out.get(why, 0) + 1
            continue
        verdicts[found.verdict] += 1
        if found.verdict != "not run":
            seen.add(found.decided_by)
            p_values.append(1.0 if found.p is None else found.p)
    number = sum(verdicts.values())
    said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items() if count) or "none counts"
    said = f"{number} claim{'' if number == 1 else 's'}: {said}"
    if left_out:
        said += f" (not counted: {', '.join(f'{count} {why}' for why, count in left_out.items())})"
    if decided := verdicts["reproduced"] + verdicts["contradicted"]:
        said += (
            f"; {survivors(p_values)} of {decided} decided verdicts survive Holm's correction at 5% over these claims"
        )
    return f"{said}."


def survivors(p_values, level=0.05):
    """Return how many tests are significant by Holm's step-down procedure."""
    for rank, p in enumerate(sorted(p_values)):
        if p >= level / (len(p_values) - rank):
            return rank
    return len(p_values)
