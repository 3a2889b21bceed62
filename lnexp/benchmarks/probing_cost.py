"""What it costs to look at the gradients by layer along training."""

import statistics
import tempfile
import time
from pathlib import Path

from omegaconf import OmegaConf

from lnexp.benchmarks.markdown import markdown
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE, Side
from lnexp.configuration import check, compose
from lnexp.corpora.prepare import prepare
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member

ROUNDS = 7
UPDATES = 20  # a round
EVERY = 100  # updates between two looks


def table(overrides: list[str]) -> str:
    """How many updates a look takes, and by how much ``probes.every=100`` slows training, as a Markdown table."""
    rows = []
    for placement in PLACEMENTS:
        look = _updates_a_look([f"model={placement}", *TRAINING_ALONE, *overrides])
        rows.append([placement, f"{look:.2f}", f"{100 * look / EVERY:.1f}%"])
    return markdown(("model", "a look, in updates", f"slower with probes.every={EVERY}"), rows)


def _updates_a_look(overrides: list[str]) -> float:
    """Median over rounds, each of a look and of updates beside it."""
    from lnexp.training.engine import Engine
    from lnexp.training.layer_probe import LayerProbe

    cfg = compose(overrides)
    check(cfg)
    OmegaConf.resolve(cfg)
    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "bench-00000000")
        run.checkpoints.mkdir(parents=True)
        engine = Engine([Member(cfg, run)], prepare(cfg.data, cfg.data_dir))
        side = Side(engine.trainer, engine.task, engine.fairseq)
        side.updates(UPDATES)  # warm up
        probe = LayerProbe(engine, EVERY, cfg.probes.batches)
        return statistics.median(_seconds_of(probe) * side.updates(UPDATES) for _ in range(ROUNDS))


def _seconds_of(probe) -> float:
    start = time.perf_counter()
    probe.records(epoch=1, update=0)
    return time.perf_counter() - start
