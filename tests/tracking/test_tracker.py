"""What wandb is told of a probe's records; of all others see test_offline.py."""

import os
import tempfile

import pytest
from omegaconf import OmegaConf

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.tasks import load_task
from lnexp.tracking.tracker import Tracker, _flat_config, _stage_where_one_can_write, charts_of


class WandbRun:
    """Keeps what it is told."""

    def __init__(self, starting_step: int = 0) -> None:
        self.starting_step = starting_step
        self.logged: list[tuple[int, dict]] = []
        self.summary: dict = {}

    def log(self, numbers: dict, step: int) -> None:
        self.logged.append((step, numbers))


@pytest.fixture
def tracker(tmp_path) -> Tracker:
    tracker = Tracker(OmegaConf.create({"tracker": {"mode": "offline"}}), RunFolder(tmp_path / "run-00000000"))
    tracker.run = WandbRun()
    return tracker


def test_where_things_lie_on_this_machine_is_not_told(tmp_path):
    cfg = check_and_resolve(compose([f"runs_dir={tmp_path}", "data_dir='~/data'"]))
    told = _flat_config(cfg)
    assert told["lr_max"] == cfg.lr_max
    assert not {"runs_dir", "data_dir"} & told.keys()
    assert str(tmp_path) not in str(told)


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


def test_tables_are_staged_elsewhere_where_home_cannot_be_written(tmp_path, monkeypatch):
    """As in a container of another user: wandb would fail, and the run with it."""
    names = ("WANDB_DATA_DIR", "WANDB_CACHE_DIR")
    for name in names:
        monkeypatch.setenv(name, "before")  # so that it is as before after this test
        monkeypatch.delenv(name)
    _stage_where_one_can_write()
    assert not any(name in os.environ for name in names)
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setenv("WANDB_CACHE_DIR", "mine")
    _stage_where_one_can_write()
    assert [os.environ[name] for name in names] == [tempfile.gettempdir(), "mine"]


def test_a_server_with_a_password_is_refused_before_wandb_prints_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_BASE_URL", "https://user:secret@localhost:1")
    online = Tracker(OmegaConf.create({"tracker": {"mode": "online"}}), RunFolder(tmp_path / "run-00000000"))
    with pytest.raises(UserError, match=r"^WANDB_BASE_URL=https://localhost:1: must be without a name"), online:
        pass


@pytest.mark.parametrize(
    ("mode", "uploaded", "wandb_is_at", "told"),
    [
        ("offline", False, 0, [50, 100, 150]),
        ("offline", True, 0, []),
        ("online", False, 0, [50, 100, 150]),  # what was told offline was never uploaded
        ("online", False, 101, [150]),
        ("online", True, 51, [100, 150]),
    ],
)
def test_a_run_that_goes_on_tells_what_wandb_does_not_have(tmp_path, monkeypatch, mode, uploaded, wandb_is_at, told):
    folder = RunFolder(tmp_path / "run-00000000")
    for update in (50, 100, 150):
        probe = {"kind": "probe", "epoch": 1, "side": "decoder", "layer": 6, "output": 1.0, "before_norm": 1.5}
        folder.path.mkdir(exist_ok=True)
        folder.append(probe | {"update": update})
    before = folder.path / "wandb" / "offline-run-1"
    before.mkdir(parents=True)
    if uploaded:
        (before / "run-1.wandb.synced").touch()
    run = WandbRun(wandb_is_at)
    monkeypatch.setattr(Tracker, "_init", lambda *_: run)
    monkeypatch.setattr(run, "finish", lambda exit_code: None, raising=False)
    with Tracker(OmegaConf.create({"tracker": {"mode": mode}}), folder):
        assert [step for step, _ in run.logged] == told
    assert before.exists() is uploaded, "what is told again is not uploaded twice"


def test_an_epoch_has_a_chart_for_what_changes_score_and_nll_first():
    record = {"kind": "epoch", "epoch": 1, "update": 60, "valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 90.0,
              "bleu_signature": "x", "n_sentences": 50, "beam": 5, "whole_valid_bleu": 89.0, "whole_n_sentences": 99,
              "train_loss": None, "lr": 0.1, "members": 4}  # fmt: skip
    charts = charts_of(record, load_task("translation"))
    assert list(charts) == ["valid/bleu", "valid/nll", "valid/whole_bleu", "valid/loss", "train/lr", "epoch"]
    assert charts["valid/bleu"] == 90.0


class Wandb:
    """Takes what a run is begun with."""

    Settings = staticmethod(dict)

    def init(self, **settings):
        self.said = settings
        return WandbRun()


def test_only_a_run_with_records_goes_on_as_the_one_that_wandb_has(tmp_path):
    """Trained afresh (force=true) it would have the curves of its first training beside its own."""
    cfg = check_and_resolve(compose([f"runs_dir={tmp_path}", "tracker=wandb"]))
    folder, wandb = RunFolder(tmp_path / "adhoc" / "run-00000000"), Wandb()
    folder.path.mkdir(parents=True)
    Tracker(cfg, folder)._init(wandb)
    assert (wandb.said["id"], wandb.said["resume"]) == ("00000000", None)
    losses = dict.fromkeys(("valid_loss", "valid_nll", "valid_bleu", "train_loss", "grad_norm"), 1.0)
    of_epoch = {"lr": 1e-3, "seconds": 1.0, "tokens_per_second": 1.0}
    folder.append({"kind": "epoch", "epoch": 1, "update": 60, **losses, **of_epoch})
    Tracker(cfg, folder)._init(wandb)
    assert wandb.said["resume"] == "allow"
