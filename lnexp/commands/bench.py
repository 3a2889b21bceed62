"""Run ``scripts/bench.py``: run benchmarks by name and print their tables."""

import argparse
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError, near_names
from lnexp.paths import ROOT


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that has a name.

    Attributes:
        title: what its table shows.
        minutes: how long it takes about, at ``small`` on one core of a laptop.
        table: runs it with overrides and returns its table; what it publishes it writes below the root.
    """

    title: str
    minutes: float
    table: Callable[[list[str]], str]


def _start(_overrides: list[str]) -> str:
    from lnexp.benchmarks import overhead

    return f"{overhead.answers_table()}\n\n{overhead.table()}"


def _since(_overrides: list[str]) -> str:
    from lnexp.benchmarks import since

    return since.table()


def _collecting(_overrides: list[str]) -> str:
    from lnexp.benchmarks import collecting_speed

    return collecting_speed.table()


def _preparing(overrides: list[str]) -> str:
    from lnexp.benchmarks import preparing_speed

    return preparing_speed.table(overrides)


def _training(overrides: list[str]) -> str:
    from lnexp.benchmarks import training_speed

    return training_speed.table(overrides)


def _probing(overrides: list[str]) -> str:
    from lnexp.benchmarks import probing_cost

    return probing_cost.table(overrides)


def _snapshots(overrides: list[str]) -> str:
    from lnexp.benchmarks import snapshot_cost

    return snapshot_cost.table(overrides)


def _arrays(overrides: list[str]) -> str:
    from lnexp.benchmarks import array_speed, page

    return _publish(overrides, array_speed.measure_all(overrides), array_speed.write, page.table)


def _decoding(overrides: list[str]) -> str:
    from lnexp.benchmarks import decoding_speed, page

    return _publish(overrides, decoding_speed.measure_all(overrides), decoding_speed.write, page.table)


def _memory(overrides: list[str]) -> str:
    from lnexp.benchmarks import activation_memory

    return _publish(
        overrides, activation_memory.measure_all(overrides), activation_memory.write, activation_memory.table
    )


#: All benchmarks, in the order in which they are run.
BENCHMARKS = {
    "start": Benchmark("The start of commands, median seconds", 3, _start),
    "since": Benchmark("Speed against an earlier commit, in alternation", 6, _since),
    "collecting": Benchmark("Collecting, verifying and reporting many generated runs", 3, _collecting),
    "preparing": Benchmark("Preparing raw text, sentence pairs a second", 3, _preparing),
    "training": Benchmark("Updates a second against stock fairseq, medians of neighbouring rounds", 4, _training),
    "probing": Benchmark("Training with and without probes along it", 4, _probing),
    "snapshots": Benchmark("Training with and without snapshots along it, in CPU time", 2, _snapshots),
    "arrays": Benchmark("Sweep arrays against stock fairseq, one run after another", 8, _arrays),
    "decoding": Benchmark("Translating test against fairseq's search, sentences a second of all members", 5, _decoding),
    "memory": Benchmark("Memory of training by depth, activations kept or computed again", 5, _memory),
}


def main() -> None:
    """``bench.py [NAME,…] [overrides]``: run benchmarks on the corpus and profile of the overrides."""
    arguments = _parser().parse_args()
    overrides = [word for word in arguments.words if "=" in word]
    with one_line_errors():
        if arguments.list:
            print(_listing(list(BENCHMARKS)))
            return
        names = chosen([word for word in arguments.words if "=" not in word])
        print(_listing(names), flush=True)
        logging.captureWarnings(True)
        logging.disable(logging.WARNING)
        for name in names:
            print(f"\n{name}: {BENCHMARKS[name].title}\n", flush=True)
            print(BENCHMARKS[name].table(overrides), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        description="Measure speed and memory, as ratios of what was measured in alternation in one run.",
        epilog="example: python scripts/bench.py training,arrays data=plain data.path=/path/to/raw/text",
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="names of benchmarks (default: all), and overrides")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and about how long each takes")
    return parser


def chosen(words: list[str]) -> list[str]:
    """Return the names of the benchmarks that words ask for, ``["training,arrays"]``; all of them for none.

    Raises:
        UserError: for an unknown name.
    """
    names = [name for word in words for name in word.split(",") if name]
    for name in names:
        if name not in BENCHMARKS:
            raise UserError(f"{name}: no such benchmark; {near_names(name, BENCHMARKS)}")
    return names or list(BENCHMARKS)


def _listing(names: list[str]) -> str:
    """Return a line for each benchmark, and the time of all."""
    lines = [f"  {name:<11} {BENCHMARKS[name].minutes:>3.0f} min  {BENCHMARKS[name].title}" for name in names]
    minutes = sum(BENCHMARKS[name].minutes for name in names)
    return "\n".join([*lines, f"about {minutes:.0f} minutes at profile small on a laptop"])


def _publish(
    overrides: list[str],
    found: list[Any],
    write: Callable[[list[Any], str, Path], None],
    table: Callable[[list[Any]], str],
) -> str:
    """Write what was measured into the folder of the device below ``results/bench``, and return its table."""
    from lnexp.configuration import compose

    cfg = compose(overrides)
    folder = ROOT / "results" / "bench" / f"{cfg.profile}-{slug(found[0].device)}"
    write(found, f"profile {cfg.profile}, {cfg.data.name}", folder)
    return table(found)


def slug(text: str) -> str:
    """Return the name of a folder for the name of a device, as ``nvidia-h100-80gb-hbm3``."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
