"""Tables and curves of any runs."""

import os
import shutil

import pandas as pd
import pytest
from helpers import error_of, run_script

from lnexp.configuration import check_and_resolve, compose
from lnexp.results.tables.frames import epoch_frame
from lnexp.results.tables.labels import as_typed
from lnexp.results.writing.run_set import curves_of, results_of
from lnexp.results.writing.write_set import name_of_folder, write_set
from lnexp.runs.folder import RunFolder
from lnexp.runs.places import folders_of

pytestmark = pytest.mark.slow

ENVIRONMENT = {"cpu": "a processor", "device": "cpu", "data": {"pairs": {"train": 3000}}, "git": {}}


@pytest.fixture
def make(tmp_path):
    """Makes the folder of a finished run of some overrides, with one epoch."""

    def run(*overrides, bleu=5.0, state="finished"):
        cfg = check_and_resolve(compose([f"runs_dir={tmp_path / 'runs'}", *overrides]))
        folder = RunFolder.of(cfg)
        folder.path.mkdir(parents=True)
        at = {"epoch": 1, "update": 60, "lr": 0.1, "seconds": 1.0, "tokens_per_second": 1.0}
        losses = {"valid_nll": 1.0, "valid_loss": 1.5, "train_loss": 1.4, "grad_norm": 1.0}
        folder.append({"kind": "epoch", "valid_bleu": bleu, **at, **losses})
        folder.append({"kind": "end", "test_bleu": bleu})
        folder.write_config(cfg)
        folder.write_environment(ENVIRONMENT)
        folder.set_status(state, updates=60)
        return folder.path

    return run


def test_rates_that_differ_by_little_are_two_settings():
    names = {as_typed("lr_max", rate) for rate in (0.00012345671, 0.00012345678, 0.002)}
    assert names == {"lr_max=0.00012345671", "lr_max=0.00012345678", "lr_max=0.002"}


def labels(runs):
    return sorted(run.job.arm.label for run in runs)


def test_seeds_are_averaged_and_what_differs_names_the_rows(make, tmp_path):
    for dropout, bleu in ((0.1, 10.0), (0.3, 20.0)):
        for seed in (1, 2):
            make(f"model.dropout={dropout}", f"seed={seed}", "order_seed=1", bleu=bleu + seed)
    make("model=pre_ln", "model.dropout=0.1", state="failed")
    runs, left_out = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert left_out == []
    of_arms = ["model=post_ln model.dropout=0.1", "model=post_ln model.dropout=0.3", "model=pre_ln model.dropout=0.1"]
    assert labels(runs) == sorted([of_arms[0], of_arms[0], of_arms[1], of_arms[1], of_arms[2]])
    said = write_set(runs, left_out, tmp_path / "set")
    assert max(map(len, said.splitlines())) < 140, "alike in all rows: the rate, the warm-up, the schedule, the corpus"
    assert "Alike in all: lr_max 0.004, T_warmup 300, " in (tmp_path / "set" / "table.md").read_text()
    assert "0 of 1" in next(line for line in said.splitlines() if of_arms[2] in line)
    assert "21.50 [" in next(line for line in said.splitlines() if of_arms[1] in line)
    assert len(pd.read_csv(tmp_path / "set" / "runs.csv")) == 5
    assert (tmp_path / "set" / "figure.png").exists()
    assert "![curves]" in (tmp_path / "set" / "table.md").read_text()


def test_options_of_fairseqs_and_the_version_of_the_numerics_name_rows_too(make, tmp_path):
    for size, bleu in ((8, 30.0), (64, 10.0)):
        make(f"fairseq.dataset.batch_size={size}", "seed=1", bleu=bleu)
    paths = folders_of(["runs"], tmp_path / "runs", here=tmp_path)
    runs, _ = results_of(paths, "a set")
    assert labels(runs) == ["fairseq.dataset.batch_size=64", "fairseq.dataset.batch_size=8"]
    for path in paths:
        size = RunFolder(path).config["fairseq"]["dataset"]["batch_size"]
        RunFolder(path).write_environment(ENVIRONMENT | {"numerics": 2 if size == 8 else 3})
    runs, _ = results_of(paths, "a set")
    assert labels(runs) == [f"fairseq.dataset.batch_size={size} numerics={made}" for size, made in ((64, 3), (8, 2))]


def test_an_option_of_a_placement_is_named_once(make, tmp_path):
    for updates in (10, 20):
        make("model=pre_to_post", f"model.pre_to_post_updates={updates}")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert labels(runs) == ["model.pre_to_post_updates=10", "model.pre_to_post_updates=20"]


def test_runs_of_two_versions_of_the_numerics_are_not_averaged(make, tmp_path):
    path = make("seed=1")
    other = path.with_name(path.name.replace(RunFolder(path).identity, "0123abcd"))
    shutil.copytree(path, other)
    RunFolder(other).write_environment(ENVIRONMENT | {"numerics": 3})
    runs, _ = results_of([path, other], "a set")
    assert labels(runs) == ["numerics=1", "numerics=3"]


def test_a_run_whose_name_cannot_be_printed_is_left_out_and_named(make, tmp_path):
    make("seed=1")
    other = make("seed=2")
    other.rename(other.with_name(os.fsdecode(b"x\xff-89abcdef")))
    runs, (line,) = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert len(runs) == 1
    assert r"x\udcff-89abcdef: not read" in line


def test_a_run_is_counted_once_whatever_its_copies(make, tmp_path):
    make("seed=1", bleu=10.0)
    two = make("seed=2", bleu=20.0)
    shutil.copytree(tmp_path / "runs" / "adhoc", tmp_path / "runs" / "a backup")
    RunFolder(tmp_path / "runs" / "a backup" / two.name).set_status("failed")
    runs, left_out = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert [(run.job.seed, run.state) for run in runs] == [(1, "finished"), (2, "finished")]
    assert sum("a copy of" in line for line in left_out) == 2
    assert f"{tmp_path}/runs/a backup/{two.name}: a copy of {two}" in left_out


def test_epochs_have_every_option_in_which_runs_differ(make, tmp_path):
    make("label_smoothing=0.1", "model.dropout=0.1")
    make("label_smoothing=0", "model.dropout=0.3", "lr_max=1e-3")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    table = epoch_frame(runs)
    for option, values in (("label_smoothing", {0, 0.1}), ("model.dropout", {0.1, 0.3}), ("lr_max", {0.004, 0.001})):
        assert set(table[option]) == values
    assert table.columns.is_unique


def test_runs_that_agree_are_one_row(make, tmp_path):
    make("seed=1")
    make("seed=2", "probes.every=3")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert labels(runs) == ["all runs"] * 2, "the order of the data follows the seed, probes change no number"


def test_an_option_that_follows_from_the_file_of_its_group_is_not_named(make, tmp_path):
    make("optimizer=adam")
    make("optimizer=radam", "optimizer.betas=[0.9,0.999]")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert labels(runs) == ["optimizer=adam", "optimizer=radam optimizer.betas=[0.9, 0.999]"]
    make("optimizer=adam", "seed=5")
    make("optimizer=sgd")
    runs, _ = results_of(
        folders_of(["runs/adhoc/*-adam-*", "runs/adhoc/*-sgd-*"], tmp_path / "runs", here=tmp_path), "a set"
    )
    assert labels(runs) == ["optimizer=adam", "optimizer=adam", "optimizer=sgd"]


def test_norms_are_named_by_their_files(make, tmp_path):
    make("norm=layer_norm")
    make("norm=scale_norm")
    make("norm=scale_norm", "norm.fix_norm=false")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert labels(runs) == ["norm=layer_norm", "norm=scale_norm", "norm=scale_norm norm.fix_norm=False"]


def test_each_sweep_has_a_folder_that_is_named_after_it():
    assert name_of_folder("runs/adhoc runs/x-*") == "runs_adhoc_runs_x-"
    long = " ".join(f"lr_max={number},2" for number in range(30))
    assert len({name_of_folder(long), name_of_folder(f"{long},3")}) == 2
    assert len(name_of_folder(long)) < 120
    assert name_of_folder(".") == name_of_folder("..") == "here"


def test_what_cannot_be_read_is_left_out_and_named(make, tmp_path):
    make("model=pre_ln")
    (make("model=post_ln") / "config.yaml").write_text("[]")
    runs, (problem,) = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert len(runs) == 1
    assert "config.yaml: malformed" in problem
    write_set(runs, [problem], tmp_path / "set")
    assert "config.yaml: malformed" in (tmp_path / "set" / "table.md").read_text()


def test_the_command_takes_folders_and_sweeps(make, tmp_path):
    make("model=pre_ln", "model.dropout=0.3")
    make("model=pre_ln")
    done = run_script("collect", "runs/adhoc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "model.dropout=0.3" in done.stdout
    assert "2 of 2 runs are over: results/local/sets/runs_adhoc/table.md" in done.stdout
    for words, said in (
        (["nothing"], "nothing: no runs there"),
        (["--sweep", "last", "runs/adhoc"], "runs/adhoc: --sweep names the runs"),
        (["runs/adhoc", "--with-published"], "--with-published: of a recipe's runs alone"),
        (["runs/adhoc", "--publish"], "--publish: of a recipe's results alone"),
    ):
        assert said in error_of(run_script("collect", *words, cwd=tmp_path))


def test_arms_of_one_placement_have_a_colour_each_and_what_is_not_set_is_not_said(make, tmp_path):
    for optimizer in ("adam", "radam"):
        for limit in ("null", "60"):
            make(f"optimizer={optimizer}", f"max_update={limit}")
    runs, _ = results_of(folders_of(["runs"], tmp_path / "runs", here=tmp_path), "a set")
    assert labels(runs) == [
        "optimizer=adam", "optimizer=adam max_update=60", "optimizer=radam", "optimizer=radam max_update=60",
    ]  # fmt: skip
    panel = curves_of(runs).rows[0][0]
    assert len({line.style.colour for line in panel.lines}) == 4
