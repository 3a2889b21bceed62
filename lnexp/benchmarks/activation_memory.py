"""Measure the memory of training deep models, with activations kept and with activations recomputed.

``python -m lnexp.benchmarks.activation_memory LAYERS CHECKPOINT OVERRIDE …`` measures one model and prints JSON, where
CHECKPOINT is the value of ``model.checkpoint_activations``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from lnexp.benchmarks.own_process import peak_memory, print_measured, run_in_own_process, whole_peak
from lnexp.benchmarks.page import markdown, write_page
from lnexp.benchmarks.stock import TRAINING_ALONE, TimedTrainer, device_name, engine_of
from lnexp.configuration import check_and_resolve, compose
from lnexp.figures.line_styles import BLUE, ORANGE

DEPTHS = (6, 12, 18, 36, 100)
UPDATES = 3
#: On a CPU: return freed memory at once; otherwise glibc keeps it, and the peak includes it.
FREE_AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "65536"}
SETTINGS = ("model=pre_ln", "max_tokens=4096", *TRAINING_ALONE)


@dataclass(frozen=True)
class DepthMemory:
    """Peak memory of training at one depth, beyond the memory in use before the first update.

    Attributes:
        layers: per side.
        kept: GiB, with all activations kept.
        computed_again: GiB, with ``model.checkpoint_activations=true``.
        device: name of the device.
    """

    layers: int
    kept: float
    computed_again: float
    device: str


def measure_all(overrides: list[str]) -> list[DepthMemory]:
    """Measure every depth, at the profile and corpus of the overrides."""
    found = []
    for layers in DEPTHS:
        kept, again = (
            run_in_own_process(__name__, str(layers), checkpoint, *overrides, env=FREE_AT_ONCE)
            for checkpoint in ("false", "true")
        )
        found.append(DepthMemory(layers, kept["memory"], again["memory"], kept["device"]))
    return found


def _measure(layers: str, checkpoint: str, *overrides: str) -> dict[str, Any]:
    depth = [f"model.{side}_layers={layers}" for side in ("encoder", "decoder")]
    cfg = check_and_resolve(compose([*SETTINGS, *overrides, *depth, f"model.checkpoint_activations={checkpoint}"]))
    with whole_peak(), engine_of(cfg) as engine:
        before = peak_memory(engine.trainer.cuda)
        TimedTrainer.of(engine).updates(UPDATES)
        memory = peak_memory(engine.trainer.cuda) - before
    return {"memory": memory, "device": device_name(engine.trainer.cuda)}


def table(found: Sequence[DepthMemory]) -> str:
    """Return a Markdown table with a row for each depth."""
    return markdown(
        ("layers a side", "activations kept, GiB", "computed again, GiB", "times less"),
        [
            [
                str(one.layers),
                f"{one.kept:.2f}",
                f"{one.computed_again:.2f}",
                f"{one.kept / one.computed_again:.1f}",
            ]
            for one in found
        ],
    )


def write(found: Sequence[DepthMemory], what: str, folder: Path) -> None:
    """Write ``activations.md``, ``activations.json`` and ``activations.png``, each with the name of the device."""
    title = f"Memory of training by depth: {what}, 4,096 tokens a batch"
    environment = " ".join(map("=".join, FREE_AT_ONCE.items()))
    how = f"beyond the memory in use before the first update; on a CPU with {environment}"
    figure = Figure(figsize=(6, 3.4), dpi=150, layout="constrained")
    axes, layers = figure.subplots(), [one.layers for one in found]
    axes.plot(layers, [one.kept for one in found], "o-", color=ORANGE, label="activations kept")
    axes.plot(layers, [one.computed_again for one in found], "o-", color=BLUE, label="computed again")
    axes.set(xlabel="layers a side", ylabel="GiB", xticks=layers, ylim=(0, None))
    axes.legend()
    write_page(found, title, f"{found[0].device}; {how}", table(found), figure, folder, "activations")


if __name__ == "__main__":
    print_measured(_measure)
