"""What wandb is told of a probe's records; of all others see test_offline.py."""

import pytest
from omegaconf import OmegaConf

from lnexp.runs.folder import RunFolder
from lnexp.tracking.tracker import Tracker


class WandbRun:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.logged: list[tuple[int, dict]] = []
        self.summary: dict = {}

    def log(self, numbers: dict, step: int) -> None:
        self.logged.append((step, numbers))


@pytest.fixture
def tracker(tmp_path) -> Tracker:
    tracker = Tracker(OmegaConf.create({"tracker": {"mode": "offline"}}), RunFolder(tmp_path / "run-00000000"))
    tracker.run = WandbRun()
    return tracker


def test_probes_are_named_by_what_they_looked_at(tracker):
    where = {"kind": "probe", "epoch": 1, "update": 50, "side": "decoder", "layer": 6}
    tracker.log(where | {"parameter": "W2", "grad_norm": 0.5, "mean_grad_norm": 0.6})
    tracker.log(where | {"output": 1.0, "before_norm": 1.5})
    tracker.log(where | {"output": 2.0})  # of a placement without norms
    assert tracker.run.logged == [
        (50, {"probe/decoder.6.W2.grad_norm": 0.5, "probe/decoder.6.W2.mean_grad_norm": 0.6}),
        (50, {"probe/decoder.6.output": 1.0, "probe/decoder.6.before_norm": 1.5}),
        (50, {"probe/decoder.6.output": 2.0}),
    ]
