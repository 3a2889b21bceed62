"""Sweeps: every run of a recipe once, what is done not again, and a failure that takes nobody along."""

import json

from helpers import TINY, run_script

SMALL = [option for option in TINY if not option.startswith("warmup")] + ["max_epoch=1", "n_seeds=1"]


def states(tmp_path) -> dict[str, str]:
    folders = (tmp_path / "runs").glob("*/*-*")
    return {folder.name: json.loads((folder / "status.json").read_text())["state"] for folder in folders}


def test_a_recipe_runs_once_and_shared_runs_only_once(tmp_path, where):
    sweep = ["-m", "+recipe=fig2a,fig4ab"]
    done = run_script("train", *sweep, *SMALL, *where, "hydra/launcher=joblib")
    # linear decay needs more updates than the single warm-up update: one epoch of the tiny corpus has them
    assert done.returncode == 0, done.stderr
    assert "9 arms × seeds are 7 runs, 0 of them done already" in done.stdout
    assert set(states(tmp_path).values()) == {"finished"}
    assert len(states(tmp_path)) == 7
    again = run_script("train", *sweep, *SMALL, *where, "hydra/launcher=joblib")
    assert again.stdout == "fig2a, fig4ab: 9 arms × seeds are 7 runs, 7 of them done already\n"


def test_a_plain_sweep_is_hydras_own(tmp_path, where):
    done = run_script("train", "-m", "model=post_ln,pre_ln", "seed=1,2", *TINY, "max_epoch=1", *where)
    assert done.returncode == 0, done.stderr
    assert len(states(tmp_path)) == 4


def test_a_failing_run_takes_no_other_down(tmp_path, where):
    # the middle one has a schedule that ends before its warm-up does
    arguments = ["lr_schedule=linear", "lr_schedule.total_updates=50", "warmup_updates=1,4000,2"]
    tiny = [option for option in TINY if not option.startswith("warmup")]
    done = run_script("train", "-m", *arguments, *tiny, "max_epoch=1", *where)
    assert done.returncode == 2
    assert "1 of 3 runs failed" in done.stderr
    assert "warmup_updates=4000" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(states(tmp_path).values()) == ["failed", "finished", "finished"]


def test_tables_figures_and_verdicts_follow_from_the_run_folders(tmp_path, where):
    words = ["+recipe=fig2a", *SMALL, *where]
    assert run_script("train", "-m", *words).returncode == 0
    results = ["--results", str(tmp_path / "results")]
    done = run_script("collect", *words, *results)
    assert done.returncode == 0, done.stderr
    assert "fig2a: 4 of 4 runs are over" in done.stdout
    table = run_script("verify", *results)
    assert table.returncode == 0
    assert "inconclusive" in table.stdout
    as_json = json.loads(run_script("verify", "--json", "--recipe", "fig2a", *results).stdout)
    assert {claim["verdict"] for claim in as_json[0]["claims"]} <= {"inconclusive", "not run"}, "one seed shows nothing"
    (tmp_path / "results" / "small" / "toy" / "fig2a" / "verdicts.json").write_text("{}")
    assert run_script("verify", *results).returncode == 1
