"""Engines of small runs."""

from collections.abc import Callable, Sequence

import pytest
from helpers import TINY
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.runs.folder import RunFolder
from lnexp.tasks import task_of
from lnexp.tasks.contract import Member
from lnexp.training.engine import Engine
from lnexp.training.models.array import ArrayModels
from lnexp.training.models.single import SingleModel


@pytest.fixture
def build(tmp_path, where) -> Callable[..., Engine]:
    """Return a function that makes the engine of a run, or of an array of runs, each from overrides of its own."""

    def make(*overrides: tuple[str, ...], name: str = "run", array: bool = False, tiny: Sequence[str] = TINY) -> Engine:
        members = []
        for number, own in enumerate(overrides):
            cfg = compose([*tiny, *where, "max_tokens=200", "max_epoch=2", "order_seed=1", *own])
            OmegaConf.resolve(cfg)
            folder = RunFolder(tmp_path / f"{name}-{number:08d}")
            folder.checkpoints.mkdir(parents=True, exist_ok=True)
            members.append(Member(cfg, folder))
        corpus = task_of(cfg).prepare(cfg.data, cfg.data_dir)
        return Engine(members, corpus, ArrayModels if array else SingleModel)

    return make
