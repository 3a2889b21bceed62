"""What lands under results/."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from swept import swept_recipe, swept_runs

from lnexp.figures import sweep
from lnexp.result_tables import read_table
from lnexp.results.evidence.published_evidence import published_evidence
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import all_verdicts
from lnexp.results.pages.published_folder import PublishedFolder
from lnexp.results.pages.verdict_pages import as_page, in_terminal
from lnexp.results.verifying.judge_again import judge_again, what_tables_deny
from lnexp.results.writing.write import write_results
from lnexp.tasks.diagnosed import DIAGNOSED, max_attention_logit, spike_score_loss

RUN_COLUMNS = [
    "recipe",
    "arm",
    "model",
    "optimizer",
    "lr_max",
    "warmup_updates",
    "lr_schedule",
    "seed",
    "status",
    "epochs",
    "best_valid_bleu",
    "last_valid_bleu",
    "best_valid_nll",
    "last_valid_nll",
    "test_bleu",
    "train_pairs",
    "seconds",
    "core_seconds",
    "identity",
]


def written(make_run, tmp_path, runs):
    return write_results(make_run.recipe, runs, "make x", tmp_path)


def runs_of(make_run):
    return [
        *(make_run("good", seed, [10.0, 90.0 + seed]) for seed in (1, 2, 3)),
        make_run("bad", 1, [], state="diverged"),
        make_run("bad", 2, [1.0, 0.5]),
        make_run.missing("bad", 3),
    ]


@pytest.fixture(scope="module")
def results_dir(tmp_path_factory, make_runs) -> Path:
    """Results of :func:`runs_of`, which tests only read."""
    results_dir, make_run = tmp_path_factory.mktemp("results"), make_runs()
    written(make_run, results_dir, runs_of(make_run))
    return results_dir


@pytest.fixture(scope="module")
def folder(results_dir) -> Path:
    return results_dir / "small" / "toy" / "figx"


def test_all_files_are_there_by_profile_data_and_recipe(folder):
    names = {path.name for path in folder.iterdir()}
    figure = {"figure.png", "figure.svg", "figure.pdf"}
    assert names == {"runs.csv", "epochs.csv", "table.md", "verdicts.json", "provenance.json", *figure}
    assert all(path.stat().st_size for path in folder.iterdir())


@pytest.mark.usefixtures("without_figures")
def test_an_arm_of_two_modes_has_a_range_in_the_table(make_run, tmp_path):
    runs = [make_run("good", seed, [90.0 + seed]) for seed in (1, 2)]
    runs += [make_run("bad", seed, [bleu]) for seed, bleu in ((1, 1.0), (2, 70.0))]
    page = (written(make_run, tmp_path, runs) / "table.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| ") and "`)" in line}
    assert "35.50 (1.00 to 70.00, n=2)" in rows["bad"]
    assert "91.50 [" in rows["good"]


def test_runs_csv_has_a_row_a_run(folder):
    table = pd.read_csv(folder / "runs.csv")
    assert set(RUN_COLUMNS) <= set(table.columns)
    assert list(table["status"]) == ["finished"] * 3 + ["diverged", "finished", "not run"]
    assert list(table["best_valid_bleu"][:5]) == [91, 92, 93, 0, 1]
    assert list(table["train_pairs"][:3]) == [3000] * 3


@pytest.mark.usefixtures("without_figures")
def test_the_average_of_checkpoints_has_columns_of_its_own(make_run, tmp_path):
    make_run.cfg.evaluation.average_last = 2
    runs = [make_run("good", 11, [30.0, 31.0]), make_run("bad", 11, [None, None], "diverged")]
    runs[0].end.update(averaged_epochs=[1, 2], averaged_test_bleu=31.5, averaged_test_bleu_tokenised=32.5)
    folder = write_results(make_run.recipe, runs, "make", tmp_path)
    good, bad = pd.read_csv(folder / "runs.csv").to_dict("records")
    assert (good["test_bleu"], good["averaged_test_bleu"], good["averaged_epochs"]) == (31.0, 31.5, "1 2")
    assert math.isnan(bad["averaged_test_bleu"])
    page = (folder / "table.md").read_text()
    assert "test BLEU, last 2 averaged" in page
    assert "31.50" in page


def test_epochs_csv_has_a_row_a_run_and_epoch(folder):
    table = pd.read_csv(folder / "epochs.csv")
    assert len(table) == 8
    assert list(table[table["seed"] == 3]["valid_bleu"]) == [10, 93]


def test_the_page_says_what_it_was_trained_on_and_what_is_missing(folder):
    page = (folder / "table.md").read_text()
    assert "profile small, data toy, 3,000 training pairs" in page
    assert "2 of 3, 1 diverged" in page
    assert "a processor, cpu" in page
    assert "make x" in page


def test_results_without_any_run_are_empty_tables_and_not_run(make_run, tmp_path):
    folder = written(make_run, tmp_path, [make_run.missing("good", 1), make_run.missing("bad", 1)])
    assert not (folder / "figure.png").exists()
    assert json.loads((folder / "verdicts.json").read_text())["claims"][0]["verdict"] == "not run"


def test_the_same_runs_give_the_same_bytes(make_run, folder, tmp_path):
    other = written(make_run, tmp_path, runs_of(make_run))
    for path in folder.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name


def test_verdicts_are_read_back_for_page_and_terminal(results_dir):
    verdicts = all_verdicts(results_dir)
    assert [found.recipe for found in verdicts] == ["figx"]
    assert not verdicts[0].has(profile=["paper"])
    page, table = as_page(verdicts), in_terminal(verdicts)
    assert "best_bleu(good) 92.00 [89.52, 94.48] (n=3)" in page
    for text in (page, table):
        assert "reproduced" in text
    assert "(small/toy/figx/table.md)" in page
    assert max(map(len, table.splitlines())) <= 76


def test_a_sweep_has_its_tables_and_figures_and_no_curves(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(sweep, "save", lambda figure, folder, name: drawn.append(name))
    recipe = swept_recipe(tmp_path)
    folder = write_results(recipe, swept_runs(recipe), "make x", tmp_path)
    page = (folder / "table.md").read_text()
    assert "good without warm-up at lr_max" in page
    assert all(f"({name}.png)" in page for name in ("map", "lr_sensitivity", "shortest_warmup", "ranking"))
    assert "figure.png" not in page
    assert drawn == list(sweep.FIGURES)
    assert not (folder / "early.csv").exists(), "without snapshots"
    assert f"\n{PublishedFolder(folder).sweep.page}\n" in page, "as docs/results/beyond.md shows it"


def test_a_sweep_with_snapshots_says_which_early_number_tells_how_a_run_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "save", lambda figure, folder, name: None)
    recipe = swept_recipe(tmp_path)
    taken = {"kind": "snapshot", "epoch": 1, "update": 8}
    runs = [
        replace(run, snapshots=[taken | {"log_z.output": [number / 7]}])
        for number, run in enumerate(swept_runs(recipe))
    ]
    folder = write_results(recipe, runs, "make x", tmp_path)
    assert len(read_table(folder / "early.csv")) == len(runs)
    page = (folder / "table.md").read_text()
    assert "| log Z of the output " in page
    assert f"\n{PublishedFolder(folder).sweep.page}\n" in page, "as docs/results/beyond.md shows it"


@pytest.mark.usefixtures("without_figures")
def test_diagnostics_are_columns_where_a_run_has_them_and_measures_of_published_runs(make_run, tmp_path, folder):
    assert not DIAGNOSED.keys() & set(pd.read_csv(folder / "runs.csv"))
    where, losses = {"epoch": 1, "update": 80}, [5.0 + number % 2 for number in range(79)]
    diagnosed = replace(
        make_run("good", 1, [10.0, 90.0]),
        updates=[{"kind": "updates", **where, "train_loss": [*losses, 99.0], "grad_norm": [*losses, None]}],
        snapshots=[{"kind": "snapshot", **where, "attention_logit.encoder.self_attn": [3.5, 12.25]}],
    )
    here = written(make_run, tmp_path, [diagnosed, *runs_of(make_run)[1:]])
    table = pd.read_csv(here / "runs.csv")
    assert set(table) & DIAGNOSED.keys() == {"spike_score_loss", "spike_score_grad_norm", "max_attention_logit"}
    assert table["max_attention_logit"].dropna().tolist() == [12.25]
    published, other, *_ = published_evidence(make_run.recipe, here, papers=False)
    for measure in (spike_score_loss, max_attention_logit):
        assert measure(published) == measure(diagnosed) is not None
        assert measure(other) is None
    assert spike_score_loss(diagnosed) == 5


@pytest.mark.usefixtures("without_figures")
def test_a_recipe_without_claims_has_its_command_too(tmp_path):
    recipe = swept_recipe(tmp_path)
    assert not recipe.claims
    waiting = [replace(run, state="not run", epochs=[], end={}, environment={}) for run in swept_runs(recipe)]
    folder = write_results(recipe, waiting, "make x", tmp_path)
    page = (folder / "table.md").read_text()
    assert "\n```\nmake x\n```\n" in page
    stated = read_verdicts(folder / "verdicts.json")
    assert what_tables_deny(stated, folder) is None
    assert judge_again(folder) == stated
    assert (folder / "table.md").read_text() == page


def test_the_command_of_claims_is_theirs_alone(folder):
    """Two places could say different things."""
    content = json.loads((folder / "verdicts.json").read_text())
    assert "command" not in content
    assert read_verdicts(folder / "verdicts.json").command == content["claims"][0]["command"]


@pytest.mark.usefixtures("without_figures")
def test_tables_that_there_is_nothing_for_are_not_left_over(make_run, tmp_path):
    """Neither a table without rows nor one of runs that are not among these can be read as theirs."""
    recipe = swept_recipe(tmp_path)
    folder = write_results(recipe, swept_runs(recipe), "make x", tmp_path)
    assert (folder / "outcomes.csv").exists()
    for name in ("probes.csv", "snapshots.csv", "early.csv"):
        (folder / name).write_text("arm,seed,identity\n")
    waiting = [replace(run, state="not run", epochs=[], end={}, environment={}) for run in swept_runs(recipe)]
    write_results(recipe, waiting, "make x", tmp_path)
    assert {path.name for path in folder.glob("*.csv")} == {"runs.csv", "epochs.csv"}
