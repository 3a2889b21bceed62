"""Run ``scripts/power.py``: say how many seeds a claim needs to be decided with 80% power."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError
from lnexp.results.judging.verdict_file import JudgedClaim, read_verdicts


def main() -> None:
    """``power.py FOLDER`` of calibration results, ``--mean M --sd S`` of a margin, or ``--rate R --threshold T``."""
    parser = Parser(description="Print how many seeds each claim needs to be decided with 80% power.")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder of results of calibration seeds")
    parser.add_argument("--mean", type=float, help="the mean margin of a comparison")
    parser.add_argument("--sd", type=float, help="its standard deviation over seeds")
    parser.add_argument("--rate", type=float, help="the success rate that is expected")
    parser.add_argument("--threshold", type=float, default=0.5, help="what it is compared with (default: 0.5)")
    arguments = parser.parse_args()
    with one_line_errors():
        from lnexp.results.statistics.power import checked_rate, power_of_mean, power_of_rate

        if arguments.folder:
            print("\n".join(_of_folder(arguments.folder)))
        elif arguments.rate is not None:
            rate, threshold = checked_rate(arguments.rate), checked_rate(arguments.threshold)
            print(_said("success rate", partial(power_of_rate, rate=rate, threshold=threshold)))
        elif arguments.mean is not None and arguments.sd is not None:
            if not (math.isfinite(arguments.mean) and 0 < arguments.sd < math.inf):
                raise UserError("--mean must be a number, and --sd one above 0")
            print(_said("comparison", partial(power_of_mean, mean=arguments.mean, sd=arguments.sd)))
        else:
            raise UserError("say a folder of results, --mean and --sd, or --rate")


def _said(name: str, power: Callable[[int], float]) -> str:
    from lnexp.results.statistics.power import MOST, POWER, seeds_needed

    needed = seeds_needed(power)
    how_many = f"more than {MOST} seeds" if needed is None else f"{needed} seeds"
    return f"{name}: {how_many} for {POWER:.0%} power"


def _of_folder(folder: Path) -> list[str]:
    """Return a line for each claim, from what the calibration seeds of a folder of results gave."""
    claims = read_verdicts(folder / "verdicts.json").claims
    return [f"{claim.id}: {_of_claim(claim)}" for claim in claims]


def _of_claim(claim: JudgedClaim) -> str:
    from lnexp.results.judging.forms.equivalence import CONFIDENCE as OF_EQUIVALENCE
    from lnexp.results.statistics.intervals import CONFIDENCE
    from lnexp.results.statistics.power import power_of_margins, power_of_rate, spread

    if claim.undecided:
        return claim.undecided
    if claim.estimate is None or not claim.margins:
        return "not run"
    if claim.form == "success rate":
        rate, margin = claim.estimate.mean, claim.margins[0].mean
        threshold = rate - margin if ">" in claim.holds_if else rate + margin
        return _said(claim.form, partial(power_of_rate, rate=rate, threshold=threshold))
    if claim.estimate.n < 2:
        return "one seed has no spread"
    if any(margin.low is None for margin in claim.margins):
        return "all seeds have one margin, and its spread is not known"
    confidence = OF_EQUIVALENCE if claim.form == "equivalence" else CONFIDENCE
    margins = [(margin.mean, spread(margin, confidence)) for margin in claim.margins]
    return _said(claim.form, partial(power_of_margins, margins=margins, confidence=confidence))
