"""Compare what runs take with the time limit of their jobs, ``hydra.launcher.timeout_min``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from lnexp.checks import whole_said
from lnexp.options import key_of
from lnexp.paths import CONFIG_DIR
from lnexp.runs.progress import clock

if TYPE_CHECKING:
    from lnexp.planning.sheet import Line

LIMIT = "hydra.launcher.timeout_min"


def time_limit(words: Sequence[str]) -> int | None:
    """Return the minutes that a command line lets a job of a launcher take; None where its launcher sets no limit.

    Raises:
        UserError: for a limit that is no whole number.
    """
    said = {key_of(word): word.partition("=")[2] for word in words}
    path = CONFIG_DIR / "hydra" / "launcher" / f"{said.get('hydra/launcher', '')}.yaml"
    default = OmegaConf.select(OmegaConf.load(path), "timeout_min") if path.is_file() else None
    if default is None:
        return None
    return whole_said(LIMIT, said.get(LIMIT, str(default)), least=1)


def of_limit(lines: "Sequence[Line]", minutes: int) -> str:
    """Return a line that says whether every run ends within the limit, going by the time of its training."""
    longest = max(lines, key=lambda line: line.cost.hours)
    takes = f"the longest run trains for {clock(longest.cost.hours * 3600)} ({longest.names[0]})"
    if longest.cost.hours * 60 < minutes:
        return f"{LIMIT}={minutes}: {takes}; validation and test come on top"
    return f"warning: {LIMIT}={minutes}: {takes}; its job ends before, is queued again and resumes"
