"""Run ``scripts/bench.py``: run all benchmarks and print their tables."""

import logging
import re

from lnexp.benchmarks import collecting_speed, overhead
from lnexp.cli import one_line_errors, overrides_of_the_command_line
from lnexp.configuration import ROOT, compose


def main() -> None:
    """Run the benchmarks, on the corpus and profile of the overrides (``data=plain data.path=…``, ``profile=…``)."""
    overrides = overrides_of_the_command_line(
        "Time answers to mistakes, the overhead of runs, collecting, preparing, and training and translating against\n"
        "stock fairseq, alone and in arrays; measure the memory of deep models.",
        "python scripts/bench.py data=plain data.path=/path/to/raw/text",
    )
    logging.captureWarnings(True)
    logging.disable(logging.WARNING)
    with one_line_errors():
        print("Time until an answer, median seconds:")
        for question, arguments in overhead.ANSWERS.items():
            print(f"  {question}: {overhead.answer_seconds(arguments):.2f} s", flush=True)
        print("\nA run with next to nothing to train:\n")
        print(overhead.table(), flush=True)
        print(f"\nTables, figure and verdicts of generated runs of {collecting_speed.EPOCHS} epochs:\n")
        print(collecting_speed.table(), flush=True)
        from lnexp.benchmarks import (
            activation_memory,
            array_speed,
            decoding_speed,
            page,
            preparing_speed,
            probing_cost,
            training_speed,
        )

        print("\nPreparing raw text, sentence pairs a second:\n")
        print(preparing_speed.table(overrides), flush=True)

        print("\nUpdates a second, medians; ratio of neighbouring rounds, above 1 is faster than stock:\n")
        print(training_speed.table(overrides), flush=True)

        print("\nProbing along training:\n")
        print(probing_cost.table(overrides), flush=True)

        print("\nSweep arrays against stock fairseq, one run after another:\n")
        sizes = array_speed.measure_all(overrides)
        print(page.table(sizes), flush=True)
        cfg = compose(overrides)
        what = f"profile {cfg.profile}, {cfg.data.name}"
        folder = ROOT / "results" / "bench" / f"{cfg.profile}-{slug(sizes[0].device)}"
        array_speed.write(sizes, what, folder)

        print("\nTranslating test, sentences a second of all members, against fairseq's search:\n")
        decoded = decoding_speed.measure_all(overrides)
        print(page.table(decoded))
        decoding_speed.write(decoded, what, folder)

        print("\nMemory of training by depth, activations kept or computed again:\n")
        by_depth = activation_memory.measure_all(overrides)
        print(activation_memory.table(by_depth))
        activation_memory.write(by_depth, what, folder)
        print(f"\n-> {folder}")


def slug(text: str) -> str:
    """Return the name of a folder for the name of a device, as ``nvidia-h100-80gb-hbm3``."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
