"""The table of what lets Post-LN train without warm-up, in docs/results/why.md, has what the tables of results have."""

import pandas as pd
import pytest
from helpers import ROOT

from lnexp.results.pages.published_folder import PublishedFolder

RESULTS = ROOT / "results"
PAGE = (ROOT / "docs/results/why.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (
            "warm-up of the last two layers of each stack alone",
            ("interventions", "interventions_real_text", "last_layers_warmup"),
        ),
        ("second moment gathered before the first step", ("adam_2k", "adam_2k_real_text", "adam_2k")),
        ("RAdam with β2 = 0.999", ("radam", "radam", "post_ln_radam_999")),
        ("β2 = 0.9", ("interventions", "", "beta2_low")),
        ("DeepNorm", ("placements", "", "low_none_deep_norm")),
    ],
)
def test_cells_are_of_their_arms(change, places):
    (row,) = (line for line in PAGE.splitlines() if line.split("|")[2:3] == [f" {change} "])
    *folders, arm = places
    cells = [cell.strip() for cell in (row.split("|")[3], row.split("|")[5])]
    for cell, corpus, name in zip(cells, ("small/toy", "medium/multi30k"), folders, strict=True):
        if not name:
            assert cell == "not run"
            continue
        nll = pd.read_csv(RESULTS / corpus / name / "runs.csv").query("arm == @arm").last_valid_nll
        assert cell.startswith(
            f"[{PublishedFolder(RESULTS / corpus / name).trained(arm)}](../../results/{corpus}/{name}/"
        )
        assert f"), {nll.mean():.2f} " in cell


def test_what_is_said_of_snapshots_is_so():
    runs = pd.read_csv(RESULTS / "small/toy/failure/runs.csv").set_index("arm")
    none = runs.loc["post_ln_none"]
    (trained,) = none[none.best_valid_bleu > 50].to_dict("records")
    failed = none[none.best_valid_bleu < 50]
    assert len(failed) == 11
    assert failed.max_hidden_cosine.min() - trained["max_hidden_cosine"] > 0
    share = runs.min_encoder_gradient_share.groupby("arm").mean()
    assert share["peri_ln_none"] < share["post_ln_none"]
    assert share["deep_norm_full"] < share["post_ln_none"]
    for arm in ("peri_ln_none", "deep_norm_full"):
        assert PublishedFolder(RESULTS / "small/toy/failure").trained(arm) == "12 of 12"


def test_how_often_a_number_of_snapshots_tells_runs_that_fail_from_runs_that_train():
    of = PublishedFolder(RESULTS / "small/toy/failure")
    failing = {arm: of.trained(arm) for arm in of.arms if of.trained(arm) != "12 of 12"}
    assert failing == {"post_ln_none": "1 of 12", "deep_norm_none": "4 of 12"}
    runs = pd.read_csv(RESULTS / "small/toy/failure/runs.csv")
    failed = runs.best_valid_bleu < runs.groupby("arm").best_valid_bleu.mean().max() / 2
    assert failed.sum() == 19
    in_failing = runs.arm.isin(list(failing))
    for column, greater in {
        "max_hidden_cosine": True,
        "min_update_rms": False,
        "max_attention_logit": True,
        "min_encoder_gradient_share": False,
    }.items():
        for arms, chosen in (((), runs.arm.notna()), (failing, in_failing)):
            pairs = [(bad, good) for bad in runs[failed & chosen][column] for good in runs[~failed & chosen][column]]
            share = sum(bad > good if greater else bad < good for bad, good in pairs) / len(pairs)
            assert share < 1, "it would separate them"
            assert of.pairs_in_order(column, greater, arms) == f"{share:.0%}"
            assert f"{share:.0%}" in PAGE


def test_core_hours_are_those_of_the_runs():
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| [tuned_rate]("))
    hours = pd.read_csv(RESULTS / "medium/multi30k/tuned_rate/runs.csv").core_seconds.sum() / 3600
    assert row.split("|")[5].strip() == f"{hours:.1f}"
