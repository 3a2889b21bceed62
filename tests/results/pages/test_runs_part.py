"""The part of a ``table.md`` on its runs: seeds, costs and commands by arm."""

from dataclasses import replace

import pandas as pd
import pytest

from lnexp.results.pages.runs_part import runs_part
from lnexp.results.writing.write import write_results

pytestmark = pytest.mark.usefixtures("without_figures")


@pytest.fixture
def folder(make_run, tmp_path):
    runs = [
        *(make_run("good", seed, [10.0, 90.0]) for seed in (1, 2, 3)),
        make_run("bad", 1, [], state="diverged"),
        make_run.missing("bad", 2),
    ]
    return write_results(make_run.recipe, [replace(run, command=f"train {run.identity}") for run in runs], "", tmp_path)


def identity_of(folder, arm):
    runs = pd.read_csv(folder / "runs.csv")
    return runs[(runs.arm == arm) & (runs.seed == 1)].identity.item()


def test_each_arm_has_its_seeds_and_a_command_and_a_missing_run_is_left_out(folder):
    _, cost, table = runs_part(folder)
    _, _, good, bad = table.splitlines()
    assert "`good`" in good
    assert "1 to 3" in good
    assert f"`train {identity_of(folder, 'good')}`" in good
    assert "`bad`" in bad
    assert "| 1 " in bad
    assert f"`train {identity_of(folder, 'bad')}`" in bad
    assert "core-hours" in cost
    assert (folder / "table.md").read_text().endswith(f"{table}\n")


def test_the_cost_is_the_sum_over_runs_and_is_not_stated_where_a_table_does_not_know_it(folder):
    runs = pd.read_csv(folder / "runs.csv")
    runs["core_seconds"] = 1800.0
    runs.to_csv(folder / "runs.csv", index=False)
    assert "Training took 2.0 core-hours" in runs_part(folder)[1]  # of the four runs that are over
    runs.drop(columns="core_seconds").to_csv(folder / "runs.csv", index=False)
    assert "core-hours" not in runs_part(folder)[1]


def of_commit(run, commit):
    git = {"commit": commit, "dirty": False}
    return replace(run, environment=run.environment | {"git": git, "packages": {"torch": "2.9"}})


def test_what_differs_between_runs_is_shown_by_arm_and_beside_the_claims_on_them(make_run, tmp_path):
    good = [of_commit(make_run("good", seed, [10.0, 90.0]), "a" * 40) for seed in (1, 2)]
    bad = [of_commit(make_run("bad", seed, [1.0]), commit * 40) for seed, commit in ((1, "a"), (2, "b"))]
    folder = write_results(make_run.recipe, [*good, *bad], "", tmp_path)
    _, said, table = runs_part(folder)
    assert said.endswith("Its runs differ in commit.")
    header, _, of_good, of_bad = table.splitlines()
    assert [cell.strip() for cell in header.split("|")][1:-1] == ["arm", "seeds", "commit", "the first of them"]
    assert f"| `{'a' * 10}` " in of_good
    assert f"| `{'a' * 10}`; `{'b' * 10}` " in of_bad
    page = (folder / "table.md").read_text()
    assert f"its runs differ in commit (`{'a' * 10}`; `{'b' * 10}`)" in page.partition("## Runs")[0]


def test_nothing_is_said_of_runs_that_were_made_alike(make_run, tmp_path):
    runs = [of_commit(make_run("good", seed, [10.0, 90.0]), "a" * 40) for seed in (1, 2)]
    folder = write_results(make_run.recipe, runs, "", tmp_path)
    assert "differ" not in runs_part(folder)[1]
    assert "| commit" not in runs_part(folder)[2]
    assert "its runs differ" not in (folder / "table.md").read_text()


def test_a_probe_has_no_runs(tmp_path):
    assert runs_part(tmp_path) == []
