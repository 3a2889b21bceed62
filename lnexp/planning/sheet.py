"""Print the cost sheet: what runs will take, as a table for a terminal."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import DictConfig
from rich.console import Group
from rich.table import Table

from lnexp.planning.cost import Cost
from lnexp.planning.devices import GPUS_OF_A_MACHINE, SECONDS_AN_OPERATION, UTILISATION, Device
from lnexp.planning.step import MOST_LAYERS, SHALLOW
from lnexp.runs.checkpoint_retention import most_newest
from lnexp.runs.length import Length
from lnexp.runs.progress import clock

GIB = 2**30
COLUMNS = ("arm", "runs", "M weights", "updates", "PFLOP", "time", "GiB", "GB disk")


@dataclass(frozen=True)
class Line:
    """Arms of recipes that cost the same.

    Attributes:
        names: of the arms.
        runs: how many runs they have, with all their seeds.
        cfg: the config of one run.
        processes: that each run has.
        cost: of each run, on all the processes that it has.
        alone: of each run on one of them.
    """

    names: list[str]
    runs: int
    cfg: DictConfig
    processes: int
    cost: Cost
    alone: Cost


def sheet(lines: Sequence[Line], processes: int, at_once: int, device: Device | None, here: str) -> Group:
    """Return a table with a row an arm, the sum, and where the numbers come from.

    Args:
        lines: at least one.
        processes: of each run, at most.
        at_once: how many runs are trained at once where each has one process.
        device: that the runs are planned for; None for the one that is available.
        here: the name of the device that is available.
    """
    where = f"{processes} × {device.title if device else here}"
    corpora = ", ".join(dict.fromkeys(line.cfg.data.name for line in lines))
    title = f"{corpora} at {lines[0].cfg.profile}, {where}"
    # no lines between columns, so that the names of arms have room in 80 columns
    table = Table(*COLUMNS, title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    table.columns[0].overflow = "fold"  # a name in full, however narrow the terminal
    for column in table.columns[1:]:
        column.justify = "right"
    for line in lines:
        table.add_row(*_row(line))
    words = [_data(line) for line in lines]
    runs = sum(line.runs for line in lines)
    disk = sum(line.runs * line.cost.disk for line in lines) / 1e9
    total = f"{runs} {'run' if runs == 1 else 'runs'}, {disk:,.3g} GB of disk"
    times = _times(lines, processes, at_once)
    return Group(table, *dict.fromkeys(words), total, *times, *_origins(lines, device, here), *_warnings(lines, device))


def _times(lines: Sequence[Line], processes: int, at_once: int) -> list[str]:
    """Return the time until all runs are trained: one after another, and several at once."""
    hours = sum(line.runs * line.cost.hours for line in lines)
    on, used = "", ""
    if processes > 1:
        fewer = any(line.processes < processes for line in lines)
        on = f", each on {f'as many of {processes} GPUs as share its updates' if fewer else f'{processes} GPUs'}"
        used = gpu_hours(sum(line.runs * line.cost.hours * line.processes for line in lines))
    times = [f"one after another{on}: {clock(hours * 3600)}{used}"]
    if at_once > 1 and sum(line.runs for line in lines) > 1:
        alone = [line.alone.hours for line in lines for _ in range(line.runs)]
        each = ", each on one GPU" if processes > 1 else ""
        used = gpu_hours(sum(alone)) if processes > 1 else ""
        times.append(f"{at_once} at once{each}: {clock(until_all_are_done(alone, at_once) * 3600)}{used}")
    return times


def gpu_hours(hours: float) -> str:
    """Return hours as the end of a line; of less than ten two digits, so that a short run takes some."""
    return f", {hours:,.0f} GPU hours" if hours >= 10 else f", {hours:.2g} GPU hours"


def until_all_are_done(hours: Sequence[float], at_once: int) -> float:
    """Return how long runs take that are trained so many at once, the longest first."""
    busy_until = [0.0] * at_once
    for each in sorted(hours, reverse=True):
        heapq.heapreplace(busy_until, busy_until[0] + each)
    return max(busy_until)


def _row(line: Line) -> tuple[str, ...]:
    cost = line.cost
    numbers = (
        f"{line.runs}",
        f"{cost.step.parameters / 1e6:,.1f}",
        f"{cost.updates:,}",
        f"{cost.flops / 1e15:,.3g}",
        clock(cost.hours * 3600),
        f"{cost.memory / GIB:,.2f}",
        f"{cost.disk / 1e9:,.2f}",
    )
    more = f" +{len(line.names) - 1}" if len(line.names) > 1 else ""
    return (line.names[0] + more, *numbers)


def _data(line: Line) -> str:
    cost, cfg = line.cost, line.cfg
    return (
        f"an epoch: {cost.work.text(cfg.max_tokens)}, {cost.updates_an_epoch:,} updates of {cfg.update_freq};"
        f" {Length.of(cfg)}"
    )


def _origins(lines: Sequence[Line], device: Device | None, here: str) -> list[str]:
    """Return which numbers were measured, and which are assumed."""
    said = [
        "GiB of memory, of each process, and PFLOP: measured on a few examples here, and scaled to the largest batch"
    ]
    if any(line.cost.scaled for line in lines):
        few = " and ".join(map(str, SHALLOW))
        said.append(
            f"models of more than {MOST_LAYERS} layers: measured with {few} layers here, and scaled to all of them"
        )
    if device and max(line.processes for line in lines) > GPUS_OF_A_MACHINE:
        said.append(
            f"gradients: added up as if all GPUs were in one machine; between machines of {GPUS_OF_A_MACHINE} it takes"
            " longer"
        )
    if device:
        said.append(
            f"time, of a run's training: a guess, good to a factor of two or three, from {UTILISATION:.0%} of what"
            f" {device.title} computes and moves at its best, or {SECONDS_AN_OPERATION * 1e6:.0f} µs an operation"
        )
    else:
        said.append(f"time, of a run's training: from one pass, measured on {here}")
    on_gpu = device or lines[0].cfg.device == "cuda"
    of_cuda = ", and in memory about 1 GiB that CUDA takes for itself" if on_gpu else ""
    said.append(f"on top come validation and test{of_cuda}")
    said.append(f"disk: of the checkpoints when all is over{_kept_until_then(lines)}")
    assumed = dict.fromkeys(line.cost.work.assumed for line in lines if line.cost.work.assumed)
    return [*said, *(f"the corpus is not prepared here: {what}" for what in assumed)]


def _kept_until_then(lines: Sequence[Line]) -> str:
    """Return which checkpoints runs keep while they train, as the end of a line."""
    newest = [most_newest(line.cfg) for line in lines if line.cfg.checkpoints.keep != "all"]
    if not newest:
        return ", which are those of every epoch"
    which = "each" if len(newest) == len(lines) else "each that does not keep all of them"
    return f"; until then {which} keeps the best and the newest {max(newest)}"


def _warnings(lines: Sequence[Line], device: Device | None) -> list[str]:
    if device is None:
        return []
    large = [name for line in lines for name in line.names if line.cost.memory / GIB + 1 > device.memory]
    return [f"does not fit into {device.memory} GiB: {', '.join(large)}; max_tokens is too large"] if large else []
