"""What tests share besides fixtures: a tiny run, and the real commands."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zipfile import ZipFile

import pytest
from warm_commands import READ_AT_START, WarmProcess, run_warm

from lnexp.benchmarks.overhead import TINY_MODEL
from lnexp.runs.records import read
from lnexp.tasks.contract import Record

if TYPE_CHECKING:
    from lnexp.training.engine import Engine

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent

#: An interpreter of its own.
PYTHON = [sys.executable, "-W", "ignore"]
TINY_CORPUS = "scale.toy={train_pairs: 120, valid_pairs: 20, test_pairs: 20}"
#: What a clock says in a record.
TIMES = ("seconds", "tokens_per_second", "time")
#: A model and a corpus that train in seconds; nothing is learnt, so no translation would end before its longest length.
TINY = [*TINY_MODEL, TINY_CORPUS, "tracker=none", "evaluation.max_len_a=0", "evaluation.max_len_b=6"]
#: The size of a tiny model that is an encoder alone.
TINY_ENCODER = ["model.encoder_layers=1", "model.encoder_embed_dim=32", "model.encoder_ffn_embed_dim=32"]


def without_times(record: Record) -> Record:
    """Return a record less what a clock says."""
    return {key: value for key, value in record.items() if key not in TIMES}


def recorded(folder: Path, *also: str) -> list[Record]:
    """Return the records of a run less what a clock says, and less the fields in ``also``; every line must be one."""
    path = folder / "metrics.jsonl"
    records = read(path)
    assert records == [json.loads(line) for line in path.read_text().splitlines()], f"{path}: not JSON, or not whole"
    return [{key: value for key, value in without_times(record).items() if key not in also} for record in records]


def recorded_by(engine: "Engine", member: int = 0) -> list[Record]:
    """Return the records of a member of an engine less what a clock says."""
    return recorded(engine.members[member].folder.path)


def assert_as_alone(member: Path, alone: Path) -> None:
    """Assert that a member of an array has the records of the same run alone, their numbers within a thousandth."""
    for one, other in zip(recorded(member, "members"), recorded(alone, "members"), strict=True):
        assert one.keys() == other.keys(), one.keys() ^ other.keys()
        for key, value in other.items():
            expected = pytest.approx(value, rel=1e-3) if isinstance(value, float | list) else value
            assert one[key] == expected, f"{key}: {one[key]}, alone {value}"


def rewind_to_first_epoch(folder: Path) -> None:
    """Leave a finished run of two epochs as if it had been killed after the first."""
    (folder / "checkpoints" / "checkpoint2.pt").unlink()
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join(lines[:2]))
    status = json.loads((folder / "status.json").read_text()) | {"state": "running"}
    (folder / "status.json").write_text(json.dumps(status))


def run_script(
    name: str, *arguments: str, env: dict[str, str] | None = None, fresh: bool = False, **options
) -> subprocess.CompletedProcess:
    """Run ``scripts/<name>.py`` as a user would.

    Args:
        env: is added to the environment.
        fresh: start an interpreter, for what one does once, at its start: read :data:`READ_AT_START`, choose the seed
            of hashes. Otherwise the modules are imported already.
        options: those of ``subprocess.run`` where it is fresh, otherwise those of :class:`WarmProcess`.
    """
    command = [str(ROOT / "scripts" / f"{name}.py"), *arguments]
    if not fresh:
        assert not any(variable.startswith(READ_AT_START) for variable in env or {}), "say fresh=True"
        return run_warm(command, _environment(env), **options)
    return subprocess.run([*PYTHON, *command], capture_output=True, text=True, env=_environment(env), **options)


def error_of(done: subprocess.CompletedProcess) -> str:
    """Return the line on stderr of a command that refuses its arguments: its status is 2, and stderr has one line."""
    assert done.returncode == 2, f"status {done.returncode}: {done.stderr}"
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert done.stderr.endswith("\n"), done.stderr
    return lines[0]


def _environment(env: dict[str, str] | None = None) -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **(env or {})}


TRAIN = ROOT / "scripts" / "train.py"


def start(*arguments: str, **options) -> WarmProcess:
    """Start a training that is to be met, or stopped, on its way; options are :class:`WarmProcess`'s."""
    return WarmProcess([str(TRAIN), *arguments], _environment(), **options)


def torchrun(processes: int, *arguments: str, script: Path = TRAIN) -> WarmProcess:
    """Start processes that train one run together, by torchrun.

    It looks at them often: where two have ended since it last looked, it takes the one of lower rank for the cause.
    """
    launcher = [
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={processes}",
        "--monitor-interval=0.005",
    ]
    return WarmProcess([*launcher, str(script), *arguments], _environment())


def wait_for(look: Callable[[], T | None], seconds: float = 60) -> T:
    """What ``look`` finds, as soon as it finds something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.01)
    raise AssertionError("it never came")


def only_run(tmp_path: Path) -> Path:
    """The one run folder under the test's ``runs_dir``."""
    (folder,) = (tmp_path / "runs").glob("[!.]*/*-*")
    return folder


def scored(folder: Path) -> list[Record]:
    """The records of a run's epochs and of its end."""
    return [record for record in read(folder / "metrics.jsonl") if record["kind"] in ("epoch", "end")]


def series(folder: Path, name: str) -> list[float | None]:
    """What a run has recorded of every update, ``train_loss`` or ``grad_norm``."""
    updates = [record for record in read(folder / "metrics.jsonl") if record["kind"] == "updates"]
    return [value for record in updates for value in record[name]]


def make_whole(checkpoint: Path) -> None:
    """Write a file that passes for a checkpoint, which is an archive."""
    with ZipFile(checkpoint, "w") as archive:
        archive.writestr("content", "nothing")


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def cut_short(checkpoint: Path) -> None:
    """Leave half of a checkpoint, as a machine that breaks down may."""
    os.truncate(checkpoint, checkpoint.stat().st_size // 2)


def as_of_fewer_seeds(published: Path, place: Path) -> None:
    """Copy published results to a place where their verdicts say that more seeds were planned, so that none counts."""
    shutil.copytree(published, place)

    def plan_more(content: dict) -> None:
        for claim in content["claims"]:
            claim["planned"] += 10

    change_json(place / "verdicts.json", plan_more)


def change_json(path: Path, change: Callable[[dict], object]) -> None:
    """Change the content of a JSON file."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def change_provenance(folder: Path, change: Callable[[dict], object]) -> None:
    """Change the content of the ``provenance.json`` of a folder of results."""
    change_json(folder / "provenance.json", change)


def contradict(folder: Path, claim_id: str) -> None:
    """Change the verdict of a claim of a folder of results to ``contradicted``, and its margins with it."""

    def change(content: dict) -> None:
        claim = next(one for one in content["claims"] if one["id"] == claim_id)
        claim["verdict"] = "contradicted"
        for margin in claim["margins"]:
            margin["low"], margin["high"] = -2.0, -1.0

    change_json(folder / "verdicts.json", change)


def report_data(page: str) -> dict:
    """What the script of a report's page draws and lists, from the page's text; it must be JSON without NaN."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    text = page.partition('id="report-data">')[2].partition("</script>")[0]
    return json.loads(gzip.decompress(b64decode(text)), parse_constant=refuse)
