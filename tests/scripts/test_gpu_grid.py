"""The one command for a GPU machine, dry: on a CPU, tiny."""

import os
import re
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT
from warm_commands import warm_python

from lnexp.benchmarks.overhead import TINY_MODEL

#: Smaller still than the dry run; models that have learnt nothing end no sentence.
TINY = [option for option in TINY_MODEL if "warmup" not in option]
TINY += ["evaluation.max_len_a=0", "evaluation.max_len_b=5"]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """The project without a ``.venv``, so that the command takes the ``python3`` of ``PATH``."""
    root = tmp_path_factory.mktemp("project")
    (root / "scripts").symlink_to(ROOT / "scripts")
    return root


@pytest.fixture(scope="module")
def grid(root) -> Callable[..., subprocess.CompletedProcess]:
    environment = os.environ | {"PATH": f"{warm_python().parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}

    def run(where: list[str], out: Path, *arguments: str) -> subprocess.CompletedProcess:
        runs, data = where
        script = str(root / "scripts" / "gpu_grid.sh")
        folders = ["--runs", runs.partition("=")[2], "--out", str(out)]
        command = [script, "--dry-run", *folders, *arguments, *TINY, data]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    return run


@pytest.mark.slow
def test_a_dry_run_trains_collects_and_packs_and_goes_on_another_day(grid, tmp_path, where):
    out = tmp_path / "out"
    done = grid(where, out, "--minutes", "4", "--recipes", "fig2a,fig4ab", "--seeds", "1")
    assert done.returncode == 0, done.stderr
    assert "9 arms × seeds are 7 runs, 0 of them done already" in done.stdout
    assert "one of 5 in an array" in done.stdout
    twins = (tmp_path / "runs" / "fig2a").glob("post_ln-adam-lr0.002-w4-inverse_sqrt-*s21-*")
    assert [path for path in twins if "precision: bf16" in (path / "config.yaml").read_text()], "the other precision"
    assert (out / "results/small/toy/fig4ab/verdicts.json").is_file()
    assert (out / "results/small/toy/fig2a/figure.png").is_file()
    (packed,) = out.glob("records.tar.xz.*")
    with tarfile.open(packed) as archive:
        names = [Path(name).name for name in archive.getnames()]
    for name, count in {"metrics.jsonl": 8, "config.yaml": 8, "valid.epoch2.txt": 8, "test.txt": 8}.items():
        assert names.count(name) == count
    assert "verdicts.json" in names
    assert not [name for name in names if name.endswith(".pt")]
    again = grid(where, out, "--minutes", "4", "--recipes", "fig2a", "--seeds", "2", "--side-by-side")
    begun = re.findall(r"^seed \d+: \d+ minutes left$", again.stdout, re.MULTILINE)
    assert len(begun) == 2
    assert "4 runs, 4 of them done already" in again.stdout
    assert "4 runs, 0 of them done already" in again.stdout


@pytest.mark.slow
def test_a_cut_before_anything_is_trained_leaves_what_there_is(grid, tmp_path, where):
    """Also from folders with spaces and brackets in their names, and dots before them."""
    odd = tmp_path / ".a (b), c"
    done = grid([f"runs_dir={odd / 'runs'}", where[1]], odd / "out", "--recipes", "no_such_figure")
    assert done.returncode == 1, "its sweep is refused"
    assert "seed 21: not all of it is done" in done.stdout
    assert (odd / "out" / "records.tar.xz.aa").is_file()


def test_the_projects_own_python_is_taken_where_there_is_one(tmp_path):
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho its own\nexit 1\n")
    own.chmod(0o755)
    done = subprocess.run(
        [tmp_path / "scripts" / "gpu_grid.sh", "--dry-run"], capture_output=True, text=True, check=False
    )
    assert "its own" in done.stdout
    assert "the packages do not import on this machine" in done.stderr


#: Stands for Python: it begins to train, and saves what it has when it is asked to end.
TRAINS = """#!/bin/bash
[[ $1 == scripts/train.py ]] || exit 0
trap 'trap "" TERM; echo $$ >> "$PLACE/saved"; exit' TERM
echo $$ >> "$PLACE/began"
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("options", [[], ["--side-by-side"]])
def test_an_interrupt_ends_what_is_trained(tmp_path, options):
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    python, seeds = tmp_path / ".venv" / "bin" / "python", 2 if options else 1
    python.parent.mkdir(parents=True)
    python.write_text(TRAINS)
    python.chmod(0o755)
    command = [tmp_path / "scripts" / "gpu_grid.sh", "--dry-run", "--seeds", "2", *options, "--out", tmp_path / "out"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"PLACE": str(tmp_path)}) as process:
        while not (tmp_path / "began").exists() or len((tmp_path / "began").read_text().split()) < seeds:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)  # to the command alone
        assert process.wait() == 130
    began, saved = ((tmp_path / name).read_text().split() for name in ("began", "saved"))
    assert len(began) == seeds
    assert sorted(saved) == sorted(began), "each hears of it, and is waited for"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--minutes", "soon"], "--minutes soon: must be a whole number"),
        (["--seeds", "0"], "--seeds 0: must be a whole number from 1"),
        (["--hours", "2"], "--hours: no such option"),
    ],
)
def test_mistakes_are_said_before_anything_begins(grid, tmp_path, where, arguments, words):
    done = grid(where, tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "out").exists()
