"""``make reproduce-…``: from nothing to verdicts, and what it says first."""

import json
import os
import re
from dataclasses import replace

import pytest
from helpers import TINY, error_of, run_script

from lnexp.commands.reproduce import choose_profile, default_launcher, launcher_of
from lnexp.recipes.load import load_recipe


def test_the_profile_is_chosen_by_machine_and_said(monkeypatch):
    import torch

    recipes = [load_recipe("fig2a"), load_recipe("fig4cd")]
    assert choose_profile(recipes, ["profile=paper"]) == ("paper", "as you said")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_profile(recipes, [])[0] == "small"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a fast one")
    profile, why = choose_profile(recipes, [])
    assert profile == "paper"
    assert "a fast one" in why


@pytest.mark.parametrize("has_gpu", [False, True])
def test_a_profile_that_recipes_lack_is_not_chosen(monkeypatch, has_gpu):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    why = [load_recipe(name) for name in ("interventions", "stall", "failure", "sharpness")]
    assert choose_profile(why, []) == ("small", "the only profile that these recipes share")
    assert choose_profile([load_recipe("tuned_rate")], []) == ("medium", "the only profile that the recipe has")
    several = replace(load_recipe("failure"), profiles=dict.fromkeys(("small", "medium"), None))
    assert choose_profile([several], [])[0] == "small"


def test_small_runs_share_the_cores_and_a_gpu_has_one_at_a_time():
    launcher, members, processes, warn = default_launcher("small", "cpu")
    assert (launcher, members) == ("hydra/launcher=array", "hydra.launcher.max_members=4")
    assert warn == "hydra.launcher.warn=false", "for nobody asked for arrays"
    assert processes == f"hydra.launcher.processes={len(os.sched_getaffinity(0))}"
    assert default_launcher("paper", "cuda") == [], "of a machine without GPUs"


@pytest.mark.parametrize(
    ("profile", "device", "at_once"),
    [("small", "cpu", "cores"), ("small", "cuda", "one"), ("medium", "auto", "one"), ("medium", "cpu", "cores")],
)
def test_arrays_on_a_gpu_are_trained_one_after_another(monkeypatch, profile, device, at_once):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    expected = {"one": 1, "cores": len(os.sched_getaffinity(0))}[at_once]
    assert f"hydra.launcher.processes={expected}" in default_launcher(profile, device)


def test_an_option_of_the_launcher_leaves_the_launcher_as_it_is():
    said = ["hydra.launcher.processes=1"]
    assert launcher_of(said, "small", "cpu") == [*default_launcher("small", "cpu"), *said]
    own = ["hydra/launcher=joblib", *said]
    assert launcher_of(own, "small", "cpu") == own


@pytest.mark.slow
def test_from_nothing_to_verdicts(tmp_path, where):
    small = [option for option in TINY if not option.startswith("warmup")] + ["max_epoch=1", "n_seeds=1"]
    done = run_script("reproduce", "+recipe=fig2a", *small, *where, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *_ = done.stdout.splitlines()
    assert first == "profile small, data toy: this machine has no GPU; PROFILE=paper needs one"
    assert "4 runs, 0 of them done already" in done.stdout
    assert "reproduced" not in done.stdout, "one seed shows nothing"
    assert re.search(r"^\[4/4\] lr \.\d+ (no warm-up|warm-up \d+)", done.stdout, re.MULTILINE), (
        "what all share is left out"
    )
    assert "inconclusive: fig2a-no-warmup-fails-low*" in done.stdout
    assert (tmp_path / "results" / "local" / "small" / "toy" / "fig2a" / "figure.png").exists()
    assert "published results: none to compare with" in done.stdout
    *_, last = done.stdout.split("\nnext: ")
    assert last != done.stdout
    assert all(line.startswith(" ") for line in last.splitlines()[1:]), "what to do next is the last that is said"
    again = run_script("reproduce", "+recipe=fig2a", *small, *where, cwd=tmp_path)
    assert "4 of them done already" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which recipe? say +recipe=NAME"),
        (["+recipe=fig2a", "data=toyy"], "data=toyy: no such data; did you mean toy"),
        (["+recipe=fig2a", "profile=paper"], "profile=paper needs a GPU and none is visible"),
        (["+recipe=fig2c"], "recipe=fig2c: no such recipe; did you mean fig2"),
        (["+recipe=fig2a", "lr_max=="], "lr_max=="),
        (["+recipe=fig2a,fig5", "max_epoch=1"], "recipe fig5 sets max_epoch itself"),
        (["+recipe=fig2a", "arms=pre_*"], "arms=pre_*: recipe fig2a has no such arm"),
    ],
)
def test_a_mistake_is_told_once_and_nothing_is_left(tmp_path, arguments, message):
    done = run_script("reproduce", *arguments, cwd=tmp_path)
    assert message in error_of(done)
    assert list(tmp_path.iterdir()) == []


#: A recipe that lies elsewhere, with the corpus beside it.
OWN = """
title: Of our own
figure: ours
source: nowhere
reading: none
settings: [lr_max=4e-3, model.encoder_layers=1, model.decoder_layers=1, max_epoch=1, warmup_updates=1]
profiles:
  small: {data: tokenized, corpus: [data.path=text, data.name=mine, subword=none]}
first_seed: 1
n_seeds: 1
arms:
  post_ln: {label: Post-LN, overrides: [model=post_ln]}
  pre_ln: {label: Pre-LN, overrides: [model=pre_ln]}
claims:
  - id: ours
    source: ours
    paper: {}
    scope: relative
    registered: before
    since: ours
    holds_if: best_nll(pre_ln) < best_nll(post_ln)
    why: why not
"""


@pytest.mark.slow
def test_a_recipe_elsewhere_with_its_own_corpus_is_taken_alike_by_every_command(tmp_path):
    text = tmp_path / "elsewhere" / "text"
    text.mkdir(parents=True)
    (tmp_path / "elsewhere" / "ours.yaml").write_text(OWN)
    for split in ("train", "valid", "test"):
        for language in ("de", "en"):
            (text / f"{split}.{language}").write_text("".join(f"{a} {b} .\n" for a in "abcd" for b in "efgh"))
    recipe = "+recipe=elsewhere/ours.yaml"

    def command(name, *arguments):
        done = run_script(name, *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "mine is in" in command("prepare_data", recipe)
    assert "mine at small" in command("plan", recipe)
    command("train", "-m", recipe, "tracker=none")
    said = command("reproduce", recipe, "tracker=none")
    assert "profile small, data mine" in said
    assert "2 runs, 2 of them done already" in said
    results = tmp_path / "results" / "local" / "small" / "mine" / "ours"
    verdicts = json.loads((results / "verdicts.json").read_text())
    assert verdicts["claims"][0]["arms"]["pre_ln"]["n"] == 1
    assert str(tmp_path) not in (results / "provenance.json").read_text() + (results / "table.md").read_text()
    (tmp_path / "elsewhere" / "ours.yaml").unlink()
    assert "ours" in command("verify", "--results", "results/local", "--all")
    assert "figure.png" in (results / "table.md").read_text()
    assert (results / "figure.png").exists()
    assert "ours" in command("judge", "--results", "results/local")
