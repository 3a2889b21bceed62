"""``scripts/probe.py`` on recipes, to their verdicts."""

import json

import pandas as pd
import pytest
from helpers import run_script

from lnexp.paths import ROOT
from lnexp.probing.recipes import _select

pytestmark = pytest.mark.slow

SMALL = ["scale.toy={train_pairs: 400, valid_pairs: 5, test_pairs: 5}"]


def probe(tmp_path, *arguments: str):
    return run_script("probe", *arguments, "--results", str(tmp_path / "results"))


def test_a_lemma_from_nothing_to_its_verdict(tmp_path):
    done = probe(tmp_path, "+recipe=theory_lemma1", "n_seeds=2")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "theory" / "gaussian" / "theory_lemma1"
    (claim,) = json.loads((folder / "verdicts.json").read_text())["claims"]
    assert claim["arms"]["gaussian"]["n"] == 2
    assert claim["arms"]["gaussian"]["mean"] == pytest.approx(1, abs=0.01)
    assert claim["command"] == "python scripts/probe.py +recipe=theory_lemma1 n_seeds=2"
    assert "| X ~ N(0, σ² I) (`gaussian`) |" in (folder / "table.md").read_text()
    assert (folder / "figure.png").stat().st_size > 10_000
    assert (folder / "figure.svg").is_file()
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = probe(tmp_path, "+recipe=theory_lemma1", "n_seeds=2", "data=toy")
    assert again.returncode == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept, "equal seeds, equal bytes"
    verified = run_script("verify", "--all", "--recipe", "theory_lemma1", "--results", str(tmp_path / "results"))
    assert verified.returncode == 0, verified.stderr
    assert "lemma1-relu" in verified.stdout


def test_some_arms_alone_are_measured_drawn_and_judged(tmp_path):
    done = probe(tmp_path, "+recipe=theory_lemma3", "n_seeds=1", "arms=norm*")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "theory" / "gaussian" / "theory_lemma3"
    assert set(pd.read_csv(folder / "measurements.csv")["arm"]) == {"norm", "norm_far"}
    verdicts = {claim["verdict"] for claim in json.loads((folder / "verdicts.json").read_text())["claims"]}
    assert "not run" in verdicts


def test_arms_share_a_measurement_and_take_their_own_rows(tmp_path, prepared):
    done = probe(tmp_path, "+recipe=fig3_layers", "n_seeds=1", *SMALL, f"data_dir={prepared}")
    assert done.returncode == 0, done.stderr
    assert "2/2" in done.stderr, "eight arms, two models"
    table = pd.read_csv(tmp_path / "results" / "theory" / "toy" / "fig3_layers" / "measurements.csv")
    assert len(table) == 8 * 6
    for arm, rows in table.groupby("arm"):
        matrix, side = str(arm).split("_")[:2]
        assert set(rows["parameter"]) == {matrix.upper()}
        assert set(rows["side"]) == {side}


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("probe", ["+recipe=fig2a"], "recipe=fig2a: is trained, not measured"),
        ("probe", ["+recipe=fig33"], "no such recipe; did you mean"),
        ("probe", ["+recipe=fig3", "model=pre_ln"], "model=pre_ln: set by the recipes of the theory"),
        ("probe", ["+recipe=fig3", "seed=7"], "seed=7: set by the recipes of the theory"),
        ("probe", ["+recipe=fig3", "scale.lr_max.low=7"], "scale.lr_max.low=7: set by the recipes of the theory"),
        ("probe", ["+recipe=fig3", "n_seeds=0"], "n_seeds=0: must be at least 1"),
        ("probe", ["model=pre_ln", "--publish"], "--results, --publish: only with recipes"),
        ("collect", ["+recipe=fig3"], "recipe=fig3: trains nothing; say python scripts/probe.py +recipe=fig3"),
        ("train", ["-m", "+recipe=fig3"], "recipe=fig3: trains nothing"),
        ("reproduce", ["+recipe=fig3", "profile=small"], "recipe=fig3: trains nothing"),
    ],
)
def test_mistakes_are_one_line(tmp_path, script, arguments, message):
    more = [f"runs_dir={tmp_path / 'runs'}"] if script == "train" else []
    done = run_script(script, *arguments, *more, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


OWN = """
title: Gradients of an encoder that fills in words
figure: ours
source: ours
reading: no warm-up, nothing is trained
task: masked_lm
measurement: gradient_by_layer
settings: [placement=pre_ln, "model=[encoder_embed_dim=32,encoder_ffn_embed_dim=32]", layers=2, batches=1, tokens=300]
plot: {x: layer, y: grad_norm, y_label: norm}
profiles:
  theory: {data: bert_toy}
known: nothing
first_seed: 1
n_seeds: 1
arms:
  w1: {label: W1, overrides: [only.parameter=W1]}
claims: []
"""


def test_a_recipe_of_another_task_is_measured_as_a_model_of_that_task(tmp_path):
    (tmp_path / "mine.yaml").write_text(OWN)
    done = probe(tmp_path, f"+recipe={tmp_path / 'mine.yaml'}", f"data_dir={tmp_path / 'data'}")
    assert done.returncode == 0, done.stderr
    measured = pd.read_csv(tmp_path / "results" / "theory" / "bert_toy" / "mine" / "measurements.csv")
    assert set(measured["side"]) == {"encoder"}


def test_rows_without_a_column_are_none_of_an_arm_that_selects_by_it():
    rows = [{"layer": 1, "y": 2}, {"bin": 3}]
    assert _select(rows, {"layer": 1}) == rows[:1]


def test_an_arm_of_rows_that_are_not_measured_is_one_line(tmp_path):
    text = (ROOT / "recipes" / "theory_lemma1.yaml").read_text().replace("overrides: []", "overrides: [only.sigma=7]")
    (tmp_path / "mine.yaml").write_text(text)
    done = probe(tmp_path, f"+recipe={tmp_path / 'mine.yaml'}", "n_seeds=1")
    assert done.returncode == 2
    assert "error: only.sigma=7: not in the measurement; there are: 0.01, 0.1, 1, 10, 100, 1000" in done.stderr
