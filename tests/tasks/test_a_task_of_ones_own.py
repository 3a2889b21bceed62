"""Another task is added to a copy of the project: only new files, no edit, and every command works on its runs."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from helpers import ROOT, TINY_CORPUS, report_data, scored
from warm_commands import run_warm

pytestmark = pytest.mark.slow

#: The files of a task that predicts the hidden word of a sentence, in their places in the project.
OVERLAY = Path(__file__).parent / "masked_word"
PARTS = ("configs", "lnexp", "recipes", "scripts", "pyproject.toml")
SWEEP = ["+recipe=masked_word", "n_seeds=1", "max_epoch=2", "probes.every=3", "evaluation.average_last=2", TINY_CORPUS]
RUN = "post_ln-adam-lr0.002-w1-inverse_sqrt-s11"


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The project with the task's files added."""
    here = tmp_path_factory.mktemp("project")
    for part in PARTS:
        source, target = ROOT / part, here / part
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    for file in filter(Path.is_file, OVERLAY.rglob("*")):
        target = here / file.relative_to(OVERLAY)
        assert not target.exists(), "a task adds files and changes none"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return here


def run(copy: Path, name: str, *arguments: str) -> str:
    """Run a command in the copy, and return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [f"scripts/{name}.py", *arguments]
    done = run_warm(command, environment, cwd=copy, own_package=True)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout} {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def trained(copy) -> str:
    """What training the recipe prints."""
    return run(copy, "train", "-m", "-v", *SWEEP, "tracker=offline")


@pytest.fixture(scope="module")
def results(copy, trained) -> Path:
    """The folder of results of the trained recipe."""
    assert "4 of 4 runs are over" in run(copy, "collect", *SWEEP)
    return copy / "results" / "local" / "small" / "toy" / "masked_word"


def test_a_task_of_ones_own_trains(copy, trained):
    assert "epoch 2/2 | valid loss" in trained
    assert ", accuracy 0." in trained
    assert "finished, test accuracy 0." in trained
    folders = list((copy / "runs" / "masked_word").glob("*-s11-*"))
    assert len(folders) == 4
    for folder in folders:
        read = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        epochs = [record for record in read if record["kind"] == "epoch"]
        assert all(0 <= epoch["valid_accuracy"] <= 1 for epoch in epochs)
        assert read[-1]["averaged_epochs"] == [1, 2]
        assert {"test_accuracy", "averaged_test_accuracy"} <= read[-1].keys()
        assert {record["side"] for record in read if record["kind"] == "probe"} == {"encoder"}
        assert not any("bleu" in key for record in read for key in record)


def test_it_trains_in_arrays(copy):
    where = ["runs_dir=runs_of_arrays", "hydra/launcher=array", "order_seed=1", "tracker=none"]
    words = ["task=masked_word", "max_epoch=2", "evaluation.average_last=2", TINY_CORPUS, "model.encoder_layers=1"]
    trained = run(copy, "train", "-m", "-v", *words, "lr_max=1e-3,2e-3", *where)
    assert trained.count("one of 2 in an array") == 2
    for folder in (copy / "runs_of_arrays" / "adhoc").glob("*-s1-*"):
        *epochs, end = scored(folder)
        assert [epoch["members"] for epoch in epochs] == [2, 2]
        assert all(0 <= epoch["valid_accuracy"] <= 1 for epoch in epochs)
        assert end["averaged_epochs"] == [1, 2]


def test_its_tables_and_verdicts_are_of_its_score(copy, results):
    runs = pd.read_csv(results / "runs.csv")
    columns = ["best_valid_accuracy", "last_valid_accuracy", "test_accuracy", "averaged_test_accuracy"]
    assert runs[columns].apply(lambda column: column.between(0, 1)).all(axis=None)
    assert "valid_accuracy" in pd.read_csv(results / "epochs.csv")
    outcomes = pd.read_csv(results / "outcomes.csv")
    assert {"accuracy_without", "accuracy_with"} <= set(outcomes)
    page = (results / "table.md").read_text()
    assert "120 training sentences" in page
    assert "best valid accuracy" in page
    (claim,) = json.loads((results / "verdicts.json").read_text())["claims"]
    assert claim["arms"]["pre_ln_none_low"]["measure"] == "best_accuracy"
    verdicts = run(copy, "verify", "--recipe", "masked_word", "--results", "results/local", "--all")
    assert "best_accuracy(pre_ln_none_low)" in verdicts
    said = [path.read_text() for path in results.iterdir() if path.suffix in (".csv", ".md", ".json")]
    assert not any("BLEU" in text or "bleu" in text.replace("sacrebleu", "") for text in said)


def test_its_figures_have_the_panels_of_its_score_and_sides(results):
    assert "gradients by layer" in (results / "table.md").read_text()
    for name in ("figure", "gradients", "states"):
        assert (results / f"{name}.pdf").stat().st_size > 5_000


def test_it_is_shown_on_the_terminal(copy, results):
    status = run(copy, "status", "--all")
    assert "accuracy" in status
    assert "4 of 4 runs done" in status
    shown = run(copy, "show", RUN)
    assert "valid_accuracy" in shown
    assert "by the average of epochs 1, 2" in shown


def test_the_report_has_its_columns(copy, results):
    run(copy, "report", "results/local", "--output", "report.html")
    page = (copy / "report.html").read_text()
    data = report_data(page)
    assert data["runs"]["scores"]["best accuracy"] == 4, "decimal places of the column"
    assert "mean best validation accuracy" in page.casefold()
    assert 'validation accuracy"' in json.dumps(data["drawings"]), "the title of a panel"


def test_its_runs_are_planned(copy):
    sheet = run(copy, "plan", *SWEEP)
    assert "an epoch: 120 sentences" in sheet
    assert "4 runs, " in sheet
