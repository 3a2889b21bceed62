"""What the page says of runs and results that are damaged, half there, or of two machines."""

import shutil
from pathlib import Path

import pytest
from helpers import report_data

from lnexp.errors import UserError
from lnexp.paths import RESULTS_DIR
from lnexp.report.page import render
from lnexp.report.robust import plainly
from lnexp.report.run_rows import gather
from lnexp.report.sections import find_sections, read_section
from lnexp.result_tables import read_table
from lnexp.runs.folder import RunFolder

pytestmark = pytest.mark.slow

FIG2A = RESULTS_DIR / "small" / "toy" / "fig2a"
RUNS = len(read_table(FIG2A / "runs.csv"))
CONFIG = "model: {_name: lnexp_pre_ln}\noptimizer: {_name: lnexp_adam}\nlr_max: 0.1\n"


@pytest.fixture
def run(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / "adhoc" / "pre_ln-s1-0123abcd")
    folder.path.mkdir(parents=True)
    folder.set_status("finished")
    (folder.path / "config.yaml").write_text(CONFIG)
    measured = {"valid_loss": 3.0, "valid_nll": 2.0, "valid_bleu": 7.5, "lr": 1e-3, "seconds": 61.0}
    folder.append({"kind": "epoch", "epoch": 1, "update": 10, **measured})
    folder.append({"kind": "end", "checkpoint_epoch": 1, "test_bleu": 6.5, "test_bleu_tokenised": 6.25})
    return folder


def page_of(runs_dir: Path, *places: Path) -> str:
    columns = [find_sections(place, number) for number, place in enumerate(places or [FIG2A])]
    sections = [section for column in columns for section in column]
    return render(columns, [str(place) for place in places or [FIG2A]], gather(sections, runs_dir), "abc")


def test_a_run_is_told_with_its_test_and_its_state(run, tmp_path):
    (row,) = gather([], tmp_path / "runs").rows
    assert row["run"] == "pre_ln-s1-0123abcd"
    assert (row["state"], row["best BLEU"], row["test BLEU"]) == ("finished", 7.5, 6.5)
    run.set_status("running")
    (row,) = gather([], tmp_path / "runs").rows
    assert row["state"] == "interrupted", "nobody trains it"


def test_a_page_can_be_of_its_places_alone(run):
    sections = [read_section(FIG2A, 0)]
    assert {row["state"] for row in gather(sections, None).rows} == {"finished"}
    assert len(gather(sections, run.path.parents[1]).rows) == len(gather(sections, None).rows) + 1


def test_results_of_ones_own_have_a_part_of_their_own_and_nothing_that_was_not_run(tmp_path):
    mine = tmp_path / "results" / "small" / "toy" / "mine"
    shutil.copytree(FIG2A, mine)
    shutil.copy("recipes/fig2a.yaml", mine / "recipe.yaml")
    text = (mine / "verdicts.json").read_text().replace('"recipe": "fig2a"', '"recipe": "mine"')
    (mine / "verdicts.json").write_text(text)
    page = page_of(tmp_path / "runs", tmp_path / "results")
    assert "Recipes of your own" in page
    assert "The paper&#39;s figures" not in page
    assert "Not run:" not in page
    assert "Does a Transformer need" not in page
    assert "The answer" not in page
    assert "<h1>Fig. 2(a): Post-LN with Adam, with and without warm-up</h1>" in page


def test_a_set_of_runs_has_no_page_and_says_what_it_has(tmp_path):
    (tmp_path / "runs.csv").touch()
    with pytest.raises(UserError, match=r"a set of runs, which has .*table\.md; a page shows recipes"):
        find_sections(tmp_path, 0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("environment.json", '{"git": "abc"}'),
        ("environment.json", '{"git": null, "cores": NaN}'),
        ("environment.json", "[]"),
        ("config.yaml", CONFIG + "precision: 2024-01-01\n"),
        ("config.yaml", CONFIG + "clip_norm: .inf\n"),
        ("config.yaml", "- 1"),
        ("config.yaml", "model: {"),
        ("metrics.jsonl", '{"kind": "epoch", "epoch": 1, "update": 1, "valid_bleu": 1e999}\n'),
        ("metrics.jsonl", "half a line"),
        ("status.json", "{"),
        ("status.json", "[" * 100_000),
        ("config.yaml", "a: " + "[" * 50_000),
        ("config.yaml", CONFIG + "clip_norm: &a [*a]"),
        ("environment.json", '{"cpu": "\\ud800"}'),
        (
            "metrics.jsonl",
            '{"kind": "epoch", "epoch": 1, "update": 1, "valid_bleu": 1, "seconds": 1' + "0" * 400 + "}\n",
        ),
    ],
)
def test_no_file_of_a_run_breaks_the_page(run, tmp_path, name, content):
    (run.path / name).write_text(content)
    data = report_data(page_of(tmp_path / "runs"))
    assert "0123abcd" in {row["identity"] for row in data["runs"]["rows"]}


@pytest.fixture
def copy(tmp_path) -> Path:
    return Path(shutil.copytree(FIG2A, tmp_path / "theirs" / "small" / "toy" / "fig2a"))


def change(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_no_file_of_results_breaks_the_page(copy, tmp_path):
    (copy / "verdicts.json").write_text("{")
    page = page_of(tmp_path, copy)
    assert "cannot be read" in page
    assert "malformed" in page


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("epochs.csv", ",480,", ",inf,"),
        ("epochs.csv", ",480,", ",many,"),
        ("epochs.csv", ",8,480,", ",x,480,"),
        ("epochs.csv", "valid_loss", "valid_lust"),
        *(("runs.csv", column, "else") for column in ("recipe", "model", "optimizer", "seed", "epochs", "seconds")),
        ("runs.csv", ",0.002,", ",,"),
        ("runs.csv", ",finished,", ",,"),
        ("verdicts.json", '"malformed": []', '"malformed": null'),
        ("verdicts.json", '"recipe": "fig2a"', '"recipe": 5'),
        ("verdicts.json", '"recipe": "fig2a"', '"recipe": [1]'),
        ("verdicts.json", '"command": "', '"command": {}, "said": "'),
        ("verdicts.json", '"mean": ', '"mean": "abc", "was": '),
        ("verdicts.json", '"measure": ', '"pleasure": '),
        ("verdicts.json", '"source": "', '"source": "\\ud800'),
        ("verdicts.json", "{", "[" * 100_000),
        ("provenance.json", '"AMD EPYC"', '"\\ud800"'),
        ("provenance.json", '"unknown": 0', '"unknown": NaN'),
        ("provenance.json", '"lr_max": 0.002', '"lr_max": 1e999'),
    ],
)
def test_whatever_results_hold_there_is_a_page(copy, tmp_path, name, old, new):
    change(copy / name, old, new)
    page = page_of(tmp_path, copy)
    report_data(page).pop("runs")
    assert page.encode()
    assert "small-toy-fig2a" in page


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"data": [], "environments": [], "settings": {}, "runs": {"55084be7": {"environment": 3}}}',
        '{"data": [{"pairs": {"train": "many"}}], "environments": [], "settings": {}, "runs": {}}',
        '{"data": ["toy"], "environments": [], "settings": {}, "runs": {}}',
        '{"data": [], "environments": [7], "settings": {}, "runs": {}}',
    ],
)
def test_a_damaged_provenance_leaves_figures_and_runs(copy, tmp_path, content):
    (copy / "provenance.json").write_text(content)
    section = read_section(copy, 0)
    assert section.drawings
    assert any("provenance.json" in problem for problem in section.problems)
    assert len(report_data(page_of(tmp_path, copy))["runs"]["rows"]) == RUNS


def test_results_alone_say_how_their_runs_were_made(tmp_path):
    page = page_of(tmp_path)
    runs = report_data(page)["runs"]
    assert all(row["command"].startswith("python scripts/train.py ") for row in runs["rows"])
    assert {row["settings"]["model.dropout"] for row in runs["rows"]} == {0.0}
    (environment,) = [runs["environments"][number] for number in {row["environment"] for row in runs["rows"]}]
    assert environment["git"]["commit"] in page
    assert "toy: 3,000 train, 200 valid, 200 test pairs" in page


def test_results_of_a_recipe_that_is_no_more_keep_their_claims(copy, tmp_path):
    change(copy / "verdicts.json", '"recipe": "fig2a"', '"recipe": "fig2x"')
    section = read_section(copy, 0)
    assert len(section.claims) > 2
    assert any("no such recipe" in problem for problem in section.problems)
    assert "fig2a-no-warmup-fails-low" in page_of(tmp_path, copy)


def test_a_recipe_of_which_all_runs_diverged_keeps_its_part(tmp_path):
    place = Path("small", "toy", "interventions")
    copy = Path(shutil.copytree(RESULTS_DIR / place, tmp_path / place))
    change(copy / "runs.csv", ",finished,", ",diverged,")
    page = page_of(tmp_path, copy)
    assert "Final validation nll of every run" in page
    assert "A dot a run, on one log scale" not in page
    assert not read_section(copy, 0).problems


def test_arms_that_are_no_more_are_said_not_drawn(tmp_path):
    source = RESULTS_DIR / "small" / "toy" / "states_in_training"
    copy = Path(shutil.copytree(source, tmp_path / "states_in_training"))
    for name in ("probes.csv", "epochs.csv", "runs.csv"):
        change(copy / name, "peri_ln", "peri_lm")
        change(copy / name, "pre_ln", "pre_lm")
    assert report_data(page_of(tmp_path, copy))["runs"]["rows"]


def test_two_machines_keep_their_own_runs(copy, tmp_path):
    change(copy / "runs.csv", ",cpu,", ",a GPU,")
    data = report_data(page_of(tmp_path / "none", FIG2A, copy))
    devices = [(row["place"], row["device"]) for row in data["runs"]["rows"]]
    assert sorted(devices) == [("a", "cpu")] * RUNS + [("b", "a GPU")] * RUNS
    assert all("fig2a: " in row["asked for by"] for row in data["runs"]["rows"])


def test_a_folder_of_ours_is_another_run_than_the_other_machines(copy, run, tmp_path):
    identity = report_data(page_of(tmp_path / "none", copy))["runs"]["rows"][0]["identity"]
    run.path.rename(run.path.with_name(f"mine-{identity}"))
    rows = report_data(page_of(tmp_path / "runs", copy))["runs"]["rows"]
    theirs, ours = [row for row in rows if row["identity"] == identity]
    assert (theirs["place"], theirs["epochs"], "mine" in theirs["run"]) == ("a", 8, False)
    assert (ours["run"], ours["epochs"], "place" in ours) == (f"mine-{identity}", 1, False)


def test_a_folder_that_results_come_from_tells_more_of_them(copy, run, tmp_path):
    row = report_data(page_of(tmp_path / "none", copy))["runs"]["rows"][0]
    run.path.rename(run.path.with_name(f"mine-{row['identity']}"))
    change(copy / "runs.csv", f",8,{row['best BLEU']}", f",1,{row['best BLEU']}")
    change(copy / "runs.csv", f",{row['seconds']},", ",61.0,")
    (told,) = [
        one
        for one in report_data(page_of(tmp_path / "runs", copy))["runs"]["rows"]
        if one["identity"] == row["identity"]
    ]
    assert (told["run"], told["place"], told["command"]) == (f"mine-{row['identity']}", "a", row["command"])


def test_results_say_how_fast_their_runs_were(tmp_path):
    assert all(row["tokens/s"] > 0 for row in report_data(page_of(tmp_path))["runs"]["rows"])


def test_what_json_cannot_say_is_said_otherwise():
    assert plainly({1: [float("nan"), float("inf"), (2, True)], "when": RESULTS_DIR}) == {
        "1": [None, None, [2, True]],
        "when": "results",
    }
