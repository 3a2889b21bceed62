"""The figures of a sweep show what its table says."""

from dataclasses import replace

import pytest
from swept import swept_recipe, swept_runs

from lnexp.figures import draw, sweep
from lnexp.figures.line_styles import PLACEMENTS
from lnexp.results.tables.run_tables import runs_table


@pytest.fixture
def swept(tmp_path):
    """What is drawn of the swept recipe."""
    recipe = swept_recipe(tmp_path)
    return sweep.swept_of(recipe, runs_table(swept_runs(recipe)), "scope")


def test_a_heat_map_a_placement_with_a_cross_where_no_run_is_good(swept):
    pre_ln, post_ln, *_ = sweep.heat_maps(swept).axes
    assert [axis.get_title() for axis in (pre_ln, post_ln)] == ["Pre-LN", "Post-LN †"]
    assert [text.get_text() for text in post_ln.texts] == ["×", "×", "×", "×", ".31", "×", "×", ".26", ".41"]
    assert [label.get_text() for label in pre_ln.get_xticklabels()] == ["1e-3", "2e-3", "4e-3"]
    assert [label.get_text() for label in pre_ln.get_yticklabels()] == ["1", "60", "300"]
    for axis in (pre_ln, post_ln):
        assert (axis.images[0].norm.vmin, axis.images[0].norm.vmax) == pytest.approx((0.21, 5.0)), "one scale"
    assert post_ln.images[0].get_array()[0, 2] == pytest.approx(5.0), "diverged"


def test_losses_have_the_unit_of_the_task(tmp_path):
    recipe = swept_recipe(tmp_path)
    swept = sweep.swept_of(replace(recipe, task="masked_lm"), runs_table(swept_runs(recipe)), "scope")
    (left, _), (axis,) = sweep.ranking(swept).axes, sweep.sensitivities(swept).axes
    *_, bar = sweep.heat_maps(swept).axes
    labels = (left.get_xlabel(), axis.get_xlabel(), bar.get_ylabel())
    assert all("nats a hidden word" in label for label in labels), labels


def test_only_seeds_that_ran_are_named(tmp_path):
    recipe = swept_recipe(tmp_path)
    runs = runs_table(swept_runs(recipe))
    runs.loc[runs["seed"] == 33, "status"] = "not run"
    assert " · seeds 31 to 32 · " in sweep.swept_of(recipe, runs, "scope").scope


def test_where_some_runs_are_good_a_cell_says_how_many(tmp_path):
    recipe = swept_recipe(tmp_path)
    # the last seed is 0.02 above the others: 0.435 is good of the first two alone
    runs = runs_table(swept_runs(recipe, post_ln_long=[0.435, 0.25, 0.4]))
    _, post_ln, *_ = sweep.heat_maps(sweep.swept_of(recipe, runs, "scope")).axes
    assert [text.get_text() for text in post_ln.texts][-3:] == ["2/3", ".26", ".41"]


def dots(axis, colour):
    """The filled and the hollow dots of one colour, along x."""
    found = [line for line in axis.lines if line.get_color() == colour and line.get_marker() == "o"]
    return {line.get_markerfacecolor() == colour: [round(float(x), 3) for x in line.get_xdata()] for line in found}


def test_lr_sensitivity_has_a_dot_a_seed_hollow_without_warmup(swept):
    (axis,) = sweep.sensitivities(swept).axes
    assert dots(axis, PLACEMENTS["pre_ln"]) == {False: [0.133] * 3, True: [0.08] * 3}
    assert dots(axis, PLACEMENTS["post_ln"])[False] == [2.333, 2.33, 2.327]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["Post-LN †", "Pre-LN"]
    (crossed,) = [line for line in axis.lines if line.get_marker() == "x"]
    (hollow,) = [line for line in axis.lines if line.get_color() == PLACEMENTS["post_ln"] and line.get_mfc() == "white"]
    assert (crossed.get_xydata() == hollow.get_xydata()).all(), "without warm-up Post-LN is good at no rate"


def test_the_shortest_warmup_is_a_cell_by_placement_and_rate(swept):
    (axis,) = sweep.shortest_warmups(swept).axes
    assert axis.images[0].get_array().tolist() == [[0, 0, 0], [3, 1, 2]], "no length is the last level"
    assert [text.get_text() for text in axis.texts] == ["1", "1", "1", "no length", "60", "300"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["Pre-LN", "Post-LN †"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1e-3", "2e-3", "4e-3"]
    assert [text.get_color() for text in axis.texts] == ["black"] * 3 + ["white", "black", "white"]


def test_where_seeds_differ_the_shortest_warmup_is_a_range_coloured_by_the_median(tmp_path):
    recipe = swept_recipe(tmp_path)
    # the last seed is 0.02 above the others: 0.435 is good of the first two alone
    runs = runs_table(swept_runs(recipe, post_ln_long=[0.435, 0.25, 0.4]))
    (axis,) = sweep.shortest_warmups(sweep.swept_of(recipe, runs, "scope")).axes
    assert axis.images[0].get_array()[1, 0] == 2, "two of three seeds"
    assert axis.texts[3].get_text() == "300 to no length"


def test_a_short_logarithmic_axis_has_names_too(swept):
    nll, _ = sweep.ranking(swept).axes
    draw.name_few(nll.xaxis, (0.11, 0.19))
    assert [label.get_text() for label in nll.get_xticklabels()] == ["0.12", "0.14", "0.16", "0.18"]


def test_the_ranking_shows_what_is_reached_and_how_many_rates_are_good(swept):
    nll, width = sweep.ranking(swept).axes
    assert dots(nll, PLACEMENTS["post_ln"]) == {False: [1.0, 1.01, 1.02], True: [0.25, 0.26, 0.27]}
    assert dots(width, PLACEMENTS["post_ln"]) == {False: [0.0], True: [2.0]}
    assert dots(width, PLACEMENTS["pre_ln"]) == {False: [2.0], True: [3.0]}
    assert [label.get_text() for label in nll.get_yticklabels()] == ["Post-LN †", "Pre-LN"]


def test_figures_are_written_by_name(swept, tmp_path, monkeypatch):
    saved = {}
    monkeypatch.setattr(sweep, "save", lambda figure, folder, name: saved.update({name: folder}))
    recipe = swept_recipe(tmp_path)
    runs = swept_runs(recipe)
    assert sweep.draw_sweep(recipe, runs_table(runs), "scope", tmp_path) == list(sweep.FIGURES)
    assert saved == dict.fromkeys(sweep.FIGURES, tmp_path)
    some = [run for run in runs if run.job.arm.name != "pre_ln_long_x1"]
    assert sweep.draw_sweep(recipe, runs_table(some), "scope", tmp_path) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(5e-4, "5e-4"), (0.016, "1.6e-2"), (1.0, "1e0"), (1.25e-4, "1.25e-4"), (0.002**0.5 / 100, "4.47214e-4")],
)
def test_rates_are_short(value, text):
    assert sweep.short_number(value) == text
