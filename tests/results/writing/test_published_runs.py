"""Runs that are missing here are taken from the published tables, as if their folders were here."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from helpers import ROOT, change_provenance

from lnexp.errors import UserError
from lnexp.recipes.load import load_recipe
from lnexp.result_tables import read_table, write_table
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.pages.published_folder import PublishedFolder
from lnexp.results.tables.early_numbers import early_table
from lnexp.results.tables.run_tables import runs_table
from lnexp.results.writing.published_runs import with_published
from lnexp.results.writing.write import write_results
from lnexp.tasks.diagnosed import DIAGNOSED

OF_FIG2A = "small/toy/fig2a"


def collected(recipe: str, runs_dir: Path) -> list[RunResult]:
    """The runs of a recipe with the seeds and by the numerics of its published ones, none of them here."""
    folder = ROOT / "results/small/toy" / recipe
    (numerics,) = PublishedFolder(folder).numerics
    seeds = sorted(set(read_table(folder / "runs.csv").seed))
    words = ["profile=small", "data=toy", f"first_seed={seeds[0]}", f"n_seeds={len(seeds)}", f"runs_dir={runs_dir}"]
    return collect(load_recipe(recipe), words, numerics)


@pytest.fixture
def missing(tmp_path) -> list[RunResult]:
    return collected("fig2a", tmp_path / "runs")


@pytest.fixture
def published(tmp_path):
    """A root of results with those of fig2a, which a test may change."""
    shutil.copytree(ROOT / "results" / OF_FIG2A, tmp_path / "results" / OF_FIG2A)
    return tmp_path / "results"


@pytest.mark.parametrize("recipe", ["fig2a", "fig3_warmup", "sharpness"])
@pytest.mark.slow
@pytest.mark.usefixtures("without_figures")
def test_tables_of_published_runs_are_written_again_to_the_byte(recipe, tmp_path):
    runs = collected(recipe, tmp_path / "runs")
    folder = ROOT / "results/small/toy" / recipe
    command = json.loads((folder / "verdicts.json").read_text())["claims"][0]["command"]
    written = write_results(load_recipe(recipe), with_published(runs, ROOT / "results"), command, tmp_path / "results")
    texts = [path.name for path in folder.iterdir() if path.suffix in (".csv", ".json", ".md")]
    assert {name: (written / name).read_bytes() for name in texts} == {
        name: (folder / name).read_bytes() for name in texts
    }


def test_a_run_that_is_here_is_not_replaced(missing, published):
    here = [replace(run, state="finished", epochs=[], end={"test_bleu": 1.5}) for run in missing[:1]]
    found = with_published([*here, *missing[1:]], published)
    assert found[0] is here[0]
    assert all(run.counts for run in found)


def test_seeds_that_nobody_ran_stay_missing(missing, published):
    table = published / OF_FIG2A / "runs.csv"
    runs = read_table(table)
    last = sorted(set(runs.seed))[3]
    runs.loc[runs.seed > last, "status"] = "not run"
    runs.to_csv(table, index=False)
    found = with_published(missing, published)
    assert {(run.job.seed <= last, run.state) for run in found} == {(True, "finished"), (False, "not run")}


@pytest.mark.usefixtures("without_figures")
def test_runs_that_another_recipe_has_published_are_taken(published, tmp_path):
    """Recipes share runs; what was never run does not make the claims younger than the others."""
    runs = collected("fig4ab", tmp_path / "none")
    found = with_published(runs, published)
    shared = {"post_ln_adam", "post_ln_adam_warmup"}
    assert {run.job.arm.name for run in found if run.counts} == shared
    assert all("+recipe=fig4ab " in run.command for run in found), "the command of its arm here"
    folder = write_results(load_recipe("fig4ab"), found, "a command", tmp_path / "of_two_arms")
    claims = json.loads((folder / "verdicts.json").read_text())["claims"]
    assert {claim["registered"] for claim in claims if claim["since"] == "a69f270"} == {"before"}


def test_runs_of_another_identity_are_not_taken(missing, published):
    table = published / OF_FIG2A / "runs.csv"
    runs = pd.read_csv(table, dtype=str)
    first = runs.identity[0]
    runs.assign(identity=runs.identity.replace(first, "0" * 8)).to_csv(table, index=False)
    assert [run.identity for run in with_published(missing, published) if not run.counts] == [first]


def test_what_training_took_is_kept(missing, published):
    found = runs_table(with_published(missing, published))
    assert found.core_seconds.tolist() == read_table(published / OF_FIG2A / "runs.csv").core_seconds.tolist()


def test_without_published_results_nothing_changes(missing, tmp_path):
    assert with_published(missing, tmp_path / "none") == missing


def test_runs_of_several_preparations_are_refused(missing, published):
    change_provenance(published / OF_FIG2A, lambda content: content.update(data=content["data"] * 2))
    with pytest.raises(UserError, match="2 preparations of the corpus"):
        with_published(missing, published)


def test_malformed_results_are_one_line(missing, published):
    (published / OF_FIG2A / "runs.csv").write_text("arm,seed\nwarmup_low,21\n")
    with pytest.raises(UserError, match=r"runs\.csv: malformed \(no column identity"):
        with_published(missing, published)


def test_early_numbers_are_taken_from_the_table_that_states_them(missing, published):
    runs = read_table(published / OF_FIG2A / "runs.csv")
    early = runs[["recipe", "arm", "seed", "identity"]].assign(update=8, hidden_cosine=runs["lr_max"] * 100)
    write_table(published / OF_FIG2A / "early.csv", early)
    found = early_table(with_published(missing, published))
    columns = ["arm", "seed", "update", "hidden_cosine"]
    assert found[columns].sort_values(columns).values.tolist() == early[columns].sort_values(columns).values.tolist()


def test_an_attempt_that_was_not_finished_leaves_nothing_in_the_published_run(missing, published):
    """Measures take a run's own records before what the table states."""
    tried = [{"kind": "updates", "epoch": 1, "update": 1, "train_loss": [99.0], "grad_norm": [99.0]}]
    snapshots = [{"kind": "snapshot", "epoch": 1, "update": 1, "attention_logit.encoder": [99.0]}]
    running = [replace(run, state="running", updates=tried, snapshots=snapshots, path=published) for run in missing]
    for run in with_published(running, published):
        assert (run.state, run.updates, run.snapshots, run.path) == ("finished", [], [], None)
        assert DIAGNOSED["max_attention_logit"](run) != 99.0


def test_an_average_of_one_checkpoint_is_read_as_it_was_written(missing, published):
    """Where other runs have none the column has numbers with a point."""
    path = published / OF_FIG2A / "runs.csv"
    runs = read_table(path)
    runs["averaged_epochs"] = [7.0, *[None] * (len(runs) - 1)]
    write_table(path, runs)
    ends = {run.job.arm.name: run.end["averaged_epochs"] for run in with_published(missing, published)[:1]}
    assert list(ends.values()) == [[7]]
