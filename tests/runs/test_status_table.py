"""What scripts/status.py says of a sweep."""

import json
import os
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from helpers import error_of, run_script
from omegaconf import OmegaConf
from rich.console import Console

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.runs.lock import held
from lnexp.runs.progress import progress
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import Sweep, SweepRun, newest_sweep

START = datetime.fromisoformat("2026-01-01T12:00:00+00:00")


def member(run: str, *arms: str) -> SweepRun:
    return SweepRun(run, f"name-{run}", seed=1, max_epoch=10, arms=list(arms))


def folder(tmp_path, run, epochs=0, seconds=10, **values) -> RunFolder:
    found = RunFolder(tmp_path / "adhoc" / f"name-{run}")
    found.path.mkdir(parents=True)
    for epoch in range(1, epochs + 1):
        time = (START + timedelta(seconds=seconds * epoch)).isoformat()
        measured = {"valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 5.0 * epoch, "lr": 0.1, "seconds": 9.0}
        found.append(
            {
                "kind": "epoch",
                "epoch": epoch,
                "update": epoch,
                "time": time,
                "tokens_per_second": 1000.0,
                **measured,
                **values,
            }
        )
    return found


def test_every_state_is_told(tmp_path):
    sweep = Sweep("two figures", [member(run) for run in ("aa", "bb", "cc", "dd", "ee", "ff")])
    folder(tmp_path, "aa", epochs=10).set_status("finished")
    folder(tmp_path, "bb", epochs=4).set_status("running")
    folder(tmp_path, "cc", epochs=4).set_status("running")
    folder(tmp_path, "dd", epochs=2).set_status("diverged", "gradients are Nan/Inf")
    (folder(tmp_path, "ee").path / "status.json").write_text("{")
    with held(tmp_path, "bb"):
        status = SweepStatus(sweep, tmp_path)
    assert [run.state for _, run in status.runs] == [
        "finished", "running", "interrupted", "diverged", "malformed", "waiting",
    ]  # fmt: skip
    assert not status.is_over
    text = shown(status.table())
    assert "gradients are Nan/Inf" in text
    assert "4/10" in text
    assert "20.0" in text
    # 10 s an epoch; one process has 6 + 6 + 10 epochs before it
    assert status.summary() == (
        "2 of 6 runs done (1 running, 1 malformed, 1 interrupted, 1 diverged, 1 waiting, 1 finished); about 3:40 left"
    )


def test_a_run_that_is_over_without_a_record_is_malformed(tmp_path):
    made = folder(tmp_path, "aa")
    made.set_status("finished")
    made.metrics.write_bytes(b"\x00\xff garbage")
    status = SweepStatus(Sweep("a figure", [member("aa")]), tmp_path)
    assert "malformed: " in shown(status.table(), width=300)
    assert "metrics.jsonl: no record in it, but the run is finished; force=true" in shown(status.table(), width=300)


def test_the_reason_of_a_run_makes_no_rows(tmp_path):
    folder(tmp_path, "aa").set_status("failed", "x\nname-bb 1 finished")
    found = SweepStatus(Sweep("a figure", [member("aa")]), tmp_path)
    assert "failed: x name-bb 1 finished" in shown(found.table(), width=300)


#: A few hundred letters that stand for 10^9 values.
ALIAS_BOMB = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in pairwise("abcdefghij")
)


@pytest.mark.parametrize(
    ("config", "why"),
    [(ALIAS_BOMB, "an alias"), ("[1, 2", "malformed"), ("seed: 1\nmax_epoch: 3\n", "not the config of a run")],
)
def test_a_run_whose_config_cannot_be_read_is_a_line_among_the_others(tmp_path, config, why):
    for run in ("aa", "bb", "cc"):
        folder(tmp_path, run, epochs=2).set_status("finished")
    (tmp_path / "adhoc" / "name-bb" / "config.yaml").write_text(config)
    done = run_script("status", "--runs", str(tmp_path), "--all", env={"COLUMNS": "400"})
    assert done.returncode == 0, done.stderr
    of_run = {run: [line for line in done.stdout.splitlines() if f"name-{run}" in line] for run in ("aa", "bb", "cc")}
    assert all("finished" in line for run in ("aa", "cc") for line in of_run[run])
    (line,) = of_run["bb"]
    assert "malformed: " in line
    assert why in line
    assert "2 of 3 runs done (1 malformed, 2 finished)" in done.stdout


def test_a_folder_that_is_not_read_is_named(tmp_path):
    Sweep("a figure", [member("aa")]).save(tmp_path)
    (tmp_path / "adhoc" / os.fsdecode(b"x\xff-aa")).mkdir(parents=True)
    done = run_script("status", "--once", "--runs", str(tmp_path))
    assert r"x\udcff-aa: not read" in done.stderr
    assert "1 waiting" in done.stdout


def shown(what, width=120) -> str:
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(what)
    return console.export_text()


def test_a_low_terminal_shows_what_runs_and_how_much_more_there_is(tmp_path):
    sweep = Sweep("x", [member(f"r{number:02d}") for number in range(40)])
    folder(tmp_path, "r39", epochs=3).set_status("running")
    with held(tmp_path, "r39"):
        text = shown(SweepStatus(sweep, tmp_path).table(height=20))
    assert "name-r39" in text
    assert "… and 29 more" in text
    assert len(text.splitlines()) <= 20


def test_arms_that_share_a_run_are_counted(tmp_path):
    text = shown(SweepStatus(Sweep("x", [member("aa", "fig2a/low", "fig4ab/low")]), tmp_path).table())
    assert "fig2a/low +1" in text


def test_an_interruption_does_not_change_the_pace(tmp_path):
    made = folder(tmp_path, "aa", epochs=3)
    later = START + timedelta(hours=9)
    for epoch in (4, 5):
        measured = {"valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 5.0, "lr": 0.1, "seconds": 9.0}
        time = (later + timedelta(seconds=10 * epoch)).isoformat()
        made.append({"kind": "epoch", "epoch": epoch, "update": epoch, "time": time, **measured})
    assert progress(member("aa"), made.path, tmp_path).seconds_an_epoch == 10


def test_the_newest_sweep_is_found_and_a_repeated_one_is_one_file(tmp_path):
    with pytest.raises(UserError, match="no sweep was started there"):
        newest_sweep(tmp_path)
    Sweep("old", [member("aa")]).save(tmp_path)
    Sweep("new", [member("aa"), member("bb")]).save(tmp_path)
    Sweep("new", [member("bb"), member("aa")]).save(tmp_path)
    assert newest_sweep(tmp_path).title == "new"
    assert len(list((tmp_path / ".sweeps").iterdir())) == 2
    newest = max((tmp_path / ".sweeps").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.write_text("[]")
    with pytest.raises(UserError, match="malformed"):
        newest_sweep(tmp_path)


def test_the_command_prints_once_where_nobody_watches(tmp_path):
    Sweep("my sweep", [member("aa", "fig2a/low")]).save(tmp_path)
    done = run_script("status", "--runs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "my sweep" in done.stdout
    assert "0 of 1 runs done (1 waiting)" in done.stdout
    nothing = run_script("status", "--runs", str(tmp_path / "nowhere"))
    assert nothing.returncode == 2
    assert "nowhere: no such folder" in nothing.stderr


def test_a_title_is_shown_as_it_was_typed(tmp_path):
    console = Console(width=100)
    with console.capture() as capture:
        console.print(SweepStatus(Sweep("model=[a,b] x=[/c]", [member("aa")]), tmp_path).table())
    assert "model=[a,b] x=[/c]" in capture.get()


def test_a_run_that_ends_by_updates_is_shown_by_them(tmp_path):
    made = folder(tmp_path, "aa", epochs=2)
    made.set_status("running")
    limited = SweepRun("aa", "name-aa", seed=1, max_epoch=10, max_update=5)
    with held(tmp_path, "aa"):
        status = SweepStatus(Sweep("x", [limited]), tmp_path)
    assert "update 2/5" in shown(status.table())
    assert "epoch" not in shown(status.table())
    assert status.summary() == "0 of 1 runs done (1 running); about 0:30 left"  # three epochs of an update each


def test_a_sweep_written_before_runs_could_end_by_updates_is_read(tmp_path):
    Sweep("old", [member("aa")]).save(tmp_path)
    (path,) = (tmp_path / ".sweeps").iterdir()
    content = json.loads(path.read_text())
    del content["members"][0]["max_update"], content["members"][0]["task"]
    path.write_text(json.dumps(content))
    assert newest_sweep(tmp_path).members[0].length.words(3, 30) == "epoch  3/10"


def test_a_sweep_that_is_over_is_a_summary_and_not_a_row_a_run(tmp_path):
    sweep = Sweep("fig2a", [member(f"r{number:02d}", f"fig2a/arm{number}") for number in range(42)])
    sweep.save(tmp_path)
    for number in range(40):
        folder(tmp_path, f"r{number:02d}").set_status("finished")
    folder(tmp_path, "r40").set_status("diverged", "gradients are Nan/Inf")
    folder(tmp_path, "r41").set_status("failed", "OSError: disk full")
    lines = run_script("status", "--runs", str(tmp_path)).stdout.splitlines()
    assert len(lines) <= 8
    assert max(map(len, lines)) <= 76
    said = " ".join(line.strip() for line in lines)
    assert "fig2a: over. 41 of 42 runs done (1 failed, 1 diverged, 40 finished)" in said
    assert "to train again: fig2a/arm41 s1 diverged: fig2a/arm40 s1" in said
    assert "next: make verify RESULTS=results/local" in said
    every = run_script("status", "--runs", str(tmp_path), "--all").stdout
    assert sum("fig2a/arm" in line for line in every.splitlines()) == 42


def test_all_are_the_runs_of_every_sweep_and_of_none_each_once(tmp_path):
    nothing = run_script("status", "--runs", str(tmp_path), "--all")
    assert error_of(nothing)
    Sweep("an old sweep", [member("aa"), member("bb")]).save(tmp_path)
    Sweep("a new sweep", [member("bb"), member("cc")]).save(tmp_path)
    old, _ = sorted((tmp_path / ".sweeps").iterdir(), key=lambda path: "new" in path.read_text())
    os.utime(old, (1, 1))
    for run in ("aa", "bb", "cc", "dd", "ee"):
        folder(tmp_path, run).set_status("finished")
    cfg = compose(["model=pre_ln", "seed=7"])
    OmegaConf.save(cfg, tmp_path / "adhoc" / "name-dd" / "config.yaml", resolve=True)
    done = run_script("status", "--runs", str(tmp_path), "--all")
    assert done.returncode == 0, done.stderr
    said = [line.strip() for line in done.stdout.splitlines()]
    rows = [[cell.strip() for cell in line.split("│")[1:3]] for line in said if line.startswith("│")]
    assert rows[0] == ["pre-ln adam lr .004 warm-up", "7"]
    assert [name for name, seed in rows if seed in ("0", "1")] == ["name-ee", "name-aa", "name-bb", "name-cc"]
    assert [line for line in said if "sweep" in line] == ["runs of no sweep", "an old sweep", "a new sweep"]


def test_a_run_that_ends_while_it_is_looked_at_was_not_interrupted(tmp_path, monkeypatch):
    """It sets its state and then lets go of its lock, maybe between our looks at the two."""
    made = folder(tmp_path, "aa", epochs=3)
    made.set_status("running")

    def ends(*_):
        made.set_status("finished")
        return False

    monkeypatch.setattr("lnexp.runs.progress.is_held", ends)
    assert progress(member("aa"), made.path, tmp_path).state == "finished"
