"""Say which machine a plan is for, by the options of ``scripts/plan.py``."""

from dataclasses import dataclass

from lnexp.checks import whole_said
from lnexp.errors import UserError, near_names
from lnexp.options.override import values_said
from lnexp.planning.devices import DEVICES, Device
from lnexp.processes import available_cores, one_quiet_thread
from lnexp.runs.environment import cpu_name


@dataclass(frozen=True)
class Machine:
    """What runs are to be trained on.

    Attributes:
        device: ``cpu`` or ``cuda``, which are measured, or the name of a GPU that need not be available.
        gpus: of one run, or of as many runs at once.
        cores: how many runs of one thread a CPU trains at once.
    """

    device: str
    gpus: int
    cores: int

    @property
    def known(self) -> Device | None:
        """The GPU, where it is one that need not be available."""
        return DEVICES.get(self.device)

    @property
    def measured_on(self) -> str:
        """The kind of device here that a step is measured on."""
        return "cuda" if self.device == "cuda" else "cpu"

    @property
    def name(self) -> str:
        """What people call the device that is measured."""
        import torch

        return torch.cuda.get_device_name() if self.device == "cuda" else cpu_name()

    def at_once(self, threads: int) -> int:
        """Return how many runs of so many threads train at once."""
        return max(1, self.cores // threads) if self.device == "cpu" else self.gpus


def machine_of(words: list[str]) -> tuple[Machine, list[str]]:
    """Return the machine that ``device``, ``gpus`` and ``cores`` say, and the other words with a profile for it.

    Raises:
        UserError: for a device that is unknown or not available, and a count that is no whole number above 0.
    """
    device, words = _take(words, "device", "cpu")
    gpus, words = _take(words, "gpus", "1")
    cores, words = _take(words, "cores", str(available_cores()))
    known = (*DEVICES, "auto", "cpu", "cuda")
    if device not in known:
        raise UserError(f"device={device}: no such device; {near_names(device, known)}")
    device = _available(device)
    if not any(word.startswith("profile=") for word in words):
        words.append(f"profile={'small' if device == 'cpu' else 'paper'}")
    return Machine(device, whole_said("gpus", gpus, least=1), whole_said("cores", cores, least=1)), words


def _available(device: str) -> str:
    """Return the device, ``auto`` as the one that runs take, or ``cuda`` where it is here: measured is better than
    estimated.
    """
    one_quiet_thread()
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if torch.cuda.is_available() and device.upper() in torch.cuda.get_device_name():
        return "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(f"device=cuda: no GPU is visible; {', '.join(DEVICES)} need not be available")
    return device


def _take(words: list[str], option: str, default: str) -> tuple[str, list[str]]:
    """Return the value of an option of this command, and the other words."""
    return [default, *values_said(words, option)][-1], [word for word in words if not word.startswith(f"{option}=")]
