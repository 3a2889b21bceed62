"""Run ``scripts/plan.py``: print what runs will cost."""

from rich.console import Console

from lnexp.checks import check_whole
from lnexp.cli import one_line_errors, overrides_of_the_command_line
from lnexp.errors import UserError, near_names
from lnexp.planning.devices import DEVICES
from lnexp.processes import one_quiet_thread
from lnexp.runs.environment import cpu_name


def main() -> None:
    """``plan.py [+recipe=NAME,…] [device=h100 gpus=8] [overrides]``: what runs will cost; trains nothing.

    ``device`` is ``cpu`` or ``cuda``, which are measured, or a GPU that need not be available; it decides the profile.
    """
    with one_line_errors():
        words = overrides_of_the_command_line(
            "Say what runs will take of time, memory and disk, before they are started.",
            "python scripts/plan.py data=wmt14 +recipe=fig4cd device=h100 gpus=8",
        )
        device, words = _take(words, "device", "cpu")
        gpus, words = _take(words, "gpus", "1")
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
        processes = _processes(gpus)
        from lnexp.planning.arms import lines
        from lnexp.planning.sheet import sheet

        known, here = DEVICES.get(device), "cuda" if device == "cuda" else "cpu"
        found = lines(words, here, processes, known)
        Console(highlight=False).print(sheet(found, processes, known, name))


def _take(words: list[str], option: str, default: str) -> tuple[str, list[str]]:
    """Return the value of an option of this command, and the other words."""
    said = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    return [default, *said][-1], [word for word in words if not word.startswith(f"{option}=")]


def _processes(gpus: str) -> int:
    count = int(gpus) if gpus.isdigit() else gpus
    check_whole("gpus", count, least=1)
    return int(count)
