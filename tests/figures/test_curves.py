"""The figure of training names what its losses are means over."""

import numpy as np
import pandas as pd
import pytest

from lnexp.figures.curves import curves
from lnexp.figures.draw import figure_of
from lnexp.paths import ROOT
from lnexp.recipes.load import load_recipe


@pytest.mark.parametrize(
    ("results", "unit"),
    [("toy/fig4ab", "token"), ("bert_toy/fig5", "hidden word"), ("bert_toy/fig5_finetune", "pair")],
)
def test_losses_are_a_token_a_hidden_word_or_a_pair(results, unit):
    folder = ROOT / "results/small" / results
    drawing = curves(load_recipe(folder.name), pd.read_csv(folder / "epochs.csv"), "scope")
    loss, score, rate = drawing.rows[0]
    assert (loss.title.splitlines()[-1], loss.y_label) == ("validation loss", f"nats a {unit}")
    assert score.y_label in ("BLEU", "accuracy")
    assert loss.bits == f"bits a {unit}"
    assert (score.bits, rate.bits) == ("", "")


def test_rows_have_one_scale_so_that_they_can_be_compared():
    folder = ROOT / "results/small/bert_toy/fig5_finetune"
    drawing = curves(load_recipe(folder.name), pd.read_csv(folder / "epochs.csv"), "scope")
    axes = np.array(figure_of(drawing).axes[: len(drawing.rows) * 3]).reshape(-1, 3)
    assert len(axes) > 1
    for column in axes.T:
        assert len({axis.get_ylim() for axis in column}) == 1


def test_rates_that_one_scale_cannot_show_have_their_own():
    """SGD's are a hundred times those of Adam."""
    epochs = pd.read_csv(ROOT / "results/small/toy/factorial/epochs.csv")
    drawing = curves(load_recipe("factorial"), epochs, "scope")
    assert {(loss.own_y, score.own_y, rate.own_y) for loss, score, rate in drawing.rows} == {(False, False, True)}
    with_adam = epochs[epochs["arm"].str.contains("_adam_")]
    assert not any(panel.own_y for row in curves(load_recipe("factorial"), with_adam, "scope").rows for panel in row)


def test_arms_that_the_recipe_does_not_have_are_not_drawn():
    epochs = pd.read_csv(ROOT / "results/small/toy/fig2a/epochs.csv").assign(arm="another")
    assert curves(load_recipe("fig2a"), epochs, "scope").rows == []


def first_labels(**tables):
    recipe = load_recipe("fig2a")
    labels = [line.label for line in curves(recipe, scope="scope", **tables).rows[0][0].lines]
    return recipe, {arm.name: label for arm, label in zip(recipe.arms.values(), labels, strict=True)}


def test_an_arm_of_which_runs_are_missing_says_so_in_its_label():
    """A mean falls where a bad run is gone."""
    folder = ROOT / "results/medium/multi30k/fig2a"
    epochs, runs = (pd.read_csv(folder / name) for name in ("epochs.csv", "runs.csv"))
    without = epochs["arm"] == "no_warmup_low"
    together = epochs["arm"] == "no_warmup_high"
    diverged = (without & (epochs["seed"] == 21) | together) & (epochs["epoch"] > 3)
    runs.loc[(runs["arm"] == "no_warmup_low") & (runs["seed"] == 21), "status"] = "diverged"
    runs.loc[runs["arm"] == "no_warmup_high", "status"] = "diverged"
    epochs, runs = (one[(one["arm"] != "warmup_low") | (one["seed"] <= 22)] for one in (epochs[~diverged], runs))
    recipe, said = first_labels(epochs=epochs, runs=runs)
    assert said["no_warmup_low"].endswith(" (5 of 6 seeds at the end)")
    assert said["no_warmup_high"].endswith(" (0 of 6 seeds at the end)")
    assert said["warmup_low"].endswith(" (2 of 6 seeds at the end)")
    assert said["warmup_high"] == recipe.arms["warmup_high"].label_in_row


def test_of_runs_that_no_recipe_planned_none_is_missing():
    epochs = pd.read_csv(ROOT / "results/medium/multi30k/fig2a/epochs.csv")
    recipe, said = first_labels(epochs=epochs[(epochs["arm"] != "warmup_low") | (epochs["seed"] <= 22)])
    assert said["warmup_low"] == recipe.arms["warmup_low"].label_in_row


def test_what_epochs_were_measured_on_is_said_of_every_arm():
    table = pd.read_csv(ROOT / "results/small/toy/fig2a/epochs.csv")
    assert curves(load_recipe("fig2a"), table, "scope").subtitle.count("beam") == 1
    other = table.assign(beam=table["beam"].where(table["arm"] != "warmup_low", 4))
    subtitle = curves(load_recipe("fig2a"), other, "scope").subtitle
    assert subtitle.count("beam") == 2
    assert "beam 4" in subtitle
