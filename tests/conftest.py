"""Fixtures of all tests."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import TINY, only_run, run_script
from hypothesis import HealthCheck, settings
from no_disk import wait_for_no_disk
from warm_commands import warm_python

wait_for_no_disk()
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # on a GPU machine, too: equality to the bit is a matter of the CPU
# a job in the background of a shell ignores interrupts, and so would all that it starts
signal.signal(signal.SIGINT, signal.default_int_handler)
# a machine that others use, too, can take any time for an example
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put modules with slow tests first, so that no process is left with one of them at the end.

    The tests of a module stay together, so that what they share is made once, or twice where two processes share them.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Path:
    """Where prepared corpora lie, shared by all tests of a process."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory, prepared) -> Path:
    """The checkpoint of a tiny run of one epoch."""
    here = tmp_path_factory.mktemp("trained")
    done = run_script("train", *TINY, "max_epoch=1", f"runs_dir={here / 'runs'}", f"data_dir={prepared}")
    assert done.returncode == 0, done.stderr
    return only_run(here) / "checkpoints" / "checkpoint1.pt"


@pytest.fixture(scope="module")
def warm_interpreter() -> Iterator[None]:
    """Have ``sys.executable``, which our code starts processes with, be one that has imported what takes time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(warm_python()))
        yield


@pytest.fixture
def finished(tmp_path, checkpoint) -> Path:
    """The folder of the run of ``checkpoint``, in the test's own ``runs_dir``."""
    shutil.copytree(checkpoint.parents[3], tmp_path / "runs")
    return only_run(tmp_path)


@pytest.fixture
def registering() -> Iterator[None]:
    """Forget what a test registers with fairseq after it: other tests go through all that is registered."""
    from fairseq import models, optim

    from lnexp.plugin.model import PLACEMENTS

    registries = [
        PLACEMENTS,
        models.MODEL_REGISTRY,
        models.MODEL_DATACLASS_REGISTRY,
        models.ARCH_MODEL_REGISTRY,
        models.ARCH_MODEL_NAME_REGISTRY,
        models.ARCH_MODEL_INV_REGISTRY,
        models.ARCH_CONFIG_REGISTRY,
        optim.OPTIMIZER_REGISTRY,
        optim.OPTIMIZER_DATACLASS_REGISTRY,
    ]
    before = [dict(registry) for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.fixture
def without_figures(monkeypatch) -> None:
    """Have results be written without their figures, which take most of the time and change no table and no verdict."""
    for module in ("write", "write_probe"):
        monkeypatch.setattr(f"lnexp.results.writing.{module}.draw_all", lambda recipe, folder: [])


@pytest.fixture
def where(tmp_path, prepared) -> list[str]:
    """The overrides that keep a run inside the test's own folder."""
    return [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"]


@pytest.fixture(scope="session")
def real_text() -> Path:
    """The folder of real corpora, which are not ours to ship; tests that read them run where it lies."""
    folder = Path(os.environ.get("LNEXP_REAL_TEXT", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("real corpora are not here; LNEXP_REAL_TEXT names their folder")
    return folder


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of garbage collection, which would pass over it again and again."""
    gc.collect()
    gc.freeze()
