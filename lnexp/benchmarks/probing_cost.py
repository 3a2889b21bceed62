"""Measure how much probing along training (``probes.every``) slows it."""

import statistics
import time

from lnexp.benchmarks.page import markdown
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE, TimedTrainer, engine_of
from lnexp.configuration import check_and_resolve, compose

ROUNDS = 7
UPDATES = 20  # a round
EVERY = 100  # updates between two probes


def table(overrides: list[str]) -> str:
    """Return how many updates a probe takes, and how much ``probes.every=100`` slows training, as a Markdown table."""
    rows = []
    for placement in PLACEMENTS:
        updates = _updates_per_probe([f"model={placement}", *TRAINING_ALONE, *overrides])
        rows.append([placement, f"{updates:.2f}", f"{100 * updates / EVERY:.1f}%"])
    return markdown(("model", "a probe, in updates", f"slower with probes.every={EVERY}"), rows)


def _updates_per_probe(overrides: list[str]) -> float:
    """Return the duration of a probe in updates: the median over rounds of a probe and of updates."""
    from lnexp.training.layer_probe import LayerProbe

    cfg = check_and_resolve(compose(overrides))
    with engine_of(cfg) as engine:
        trainer = TimedTrainer.of(engine)
        trainer.updates(UPDATES)  # warm up
        probe = LayerProbe(engine, EVERY, cfg.probes.batches)
        return statistics.median(_seconds_of(probe) * trainer.updates(UPDATES) for _ in range(ROUNDS))


def _seconds_of(probe) -> float:
    start = time.perf_counter()
    probe.records(epoch=1, update=0)
    return time.perf_counter() - start
