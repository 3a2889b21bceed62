"""Run ``scripts/plan.py``: print what runs will cost."""

import sys

from rich.console import Console

from lnexp.cli import one_line_errors, overrides_parser
from lnexp.options import is_of_hydra, key_of
from lnexp.planning.machine import machine_of
from lnexp.planning.time_limit import LIMIT, of_limit, time_limit

#: What of a command line for Hydra a plan reads.
READ = ("hydra/launcher", LIMIT)


def main() -> None:
    """``plan.py [-m] [+recipe=NAME,…] [device=h100 gpus=8] [overrides]``: what runs will cost; trains nothing.

    ``device`` is ``cpu``, ``cuda`` or ``auto``, which are measured, or a GPU that need not be available; it decides the
    profile.
    ``gpus`` are those of one run, or of as many runs at once; ``cores`` (default: all) is how many runs a CPU trains at
    once.
    """
    with one_line_errors():
        parser = overrides_parser(
            "Say what runs will take of time, memory and disk, before they are started.",
            "python scripts/plan.py data=wmt14 +recipe=fig4cd device=h100 gpus=8",
        )
        parser.add_argument("-m", "--multirun", action="store_true", help="taken as train.py takes it; changes nothing")
        words = parser.parse_intermixed_args().overrides
        launcher = [word for word in words if is_of_hydra(word)]
        _warn_of_ignored(launcher)
        machine, words = machine_of([word for word in words if word not in launcher])
        from lnexp.planning.arms import lines
        from lnexp.planning.sheet import sheet

        limit = time_limit(launcher)
        found = lines(words, machine.measured_on, machine.gpus, machine.known)
        at_once = machine.at_once(max((line.cfg.threads for line in found), default=1))
        console = Console(highlight=False, markup=False)
        console.print(sheet(found, machine.gpus, at_once, machine.known, machine.name))
        if limit:
            console.print(of_limit(found, limit))


def _warn_of_ignored(launcher: list[str]) -> None:
    if ignored := [word for word in launcher if key_of(word) not in READ]:
        note = "cores=… says how many runs train at once"
        print(f"warning: {', '.join(ignored)}: no part of a plan; {note}", file=sys.stderr)
