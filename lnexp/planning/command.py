"""Run ``scripts/plan.py``: print what runs will cost."""

import sys

from rich.console import Console

from lnexp.checks import check_whole
from lnexp.cli import one_line_errors, overrides_parser
from lnexp.errors import UserError, near_names
from lnexp.options import key_of
from lnexp.options.override import values_said
from lnexp.planning.devices import DEVICES
from lnexp.planning.time_limit import LIMIT, of_limit, time_limit
from lnexp.processes import available_cores, one_quiet_thread
from lnexp.runs.environment import cpu_name

#: What of a command line for Hydra a plan reads.
READ = ("hydra/launcher", LIMIT)


def main() -> None:
    """``plan.py [-m] [+recipe=NAME,…] [device=h100 gpus=8] [overrides]``: what runs will cost; trains nothing.

    ``device`` is ``cpu`` or ``cuda``, which are measured, or a GPU that need not be available; it decides the profile.
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
        launcher = [word for word in words if word.startswith("hydra")]
        words = [word for word in words if word not in launcher]
        if ignored := [word for word in launcher if key_of(word) not in READ]:
            note = "cores=… says how many runs train at once"
            print(f"warning: {', '.join(ignored)}: no part of a plan; {note}", file=sys.stderr)
        device, words = _take(words, "device", "cpu")
        gpus, words = _take(words, "gpus", "1")
        cores, words = _take(words, "cores", str(available_cores()))
        if device not in (*DEVICES, "cpu", "cuda"):
            raise UserError(f"device={device}: no such device; {near_names(device, [*DEVICES, 'cpu', 'cuda'])}")
        if not any(word.startswith("profile=") for word in words):
            words.append(f"profile={'small' if device == 'cpu' else 'paper'}")
        one_quiet_thread()
        import torch

        if torch.cuda.is_available() and device.upper() in torch.cuda.get_device_name():
            device = "cuda"  # available: measured rather than estimated
        if device == "cuda" and not torch.cuda.is_available():
            raise UserError(f"device=cuda: no GPU is visible; {', '.join(DEVICES)} need not be available")
        name = torch.cuda.get_device_name() if device == "cuda" else cpu_name()
        processes = _count("gpus", gpus)
        number_of_cores = _count("cores", cores)
        from lnexp.planning.arms import lines
        from lnexp.planning.sheet import sheet

        known, here = DEVICES.get(device), "cuda" if device == "cuda" else "cpu"
        limit = time_limit(launcher)
        found = lines(words, here, processes, known)
        threads = max((line.cfg.threads for line in found), default=1)
        at_once = max(1, number_of_cores // threads) if device == "cpu" else processes
        console = Console(highlight=False, markup=False)
        console.print(sheet(found, processes, at_once, known, name))
        if limit:
            console.print(of_limit(found, limit))


def _take(words: list[str], option: str, default: str) -> tuple[str, list[str]]:
    """Return the value of an option of this command, and the other words."""
    return [default, *values_said(words, option)][-1], [word for word in words if not word.startswith(f"{option}=")]


def _count(option: str, said: str) -> int:
    count = int(said) if said.isdigit() else said
    check_whole(option, count, least=1)
    return int(count)
