"""The number that tells how runs end is found, and judged in seeds that it was not chosen by."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from swept import SEEDS, swept_recipe, swept_runs

from lnexp.recipes.grid import grid_of
from lnexp.results.measures.prediction import KNOWN_BEFORE, LR_MAX, LR_REACHED, Prediction, fmean_known, most_often
from lnexp.results.measures.sweep_measures import finals_of

LINE = 0.45


@pytest.fixture
def sweep(tmp_path):
    """The grid, the final nlls, and a table of early numbers: ``truth`` tells them, ``noise`` does not."""
    recipe = swept_recipe(tmp_path)
    finals = finals_of(grid_of(recipe), swept_runs(recipe))
    random = np.random.default_rng(3)
    rows = [
        {"recipe": "swept", "arm": arm, "seed": seed, "identity": f"{arm}{seed}", "update": update,
         "noise": random.normal(), "truth": -(final**2) if update == 16 else random.normal(), "same": 1.0}
        for arm, by_seed in finals.items() for seed, final in by_seed.items() for update in (8, 16)
    ]  # fmt: skip
    return grid_of(recipe), pd.DataFrame(rows), finals


def test_correlations_are_those_of_scipy_seed_by_seed(sweep):
    grid, early, finals = sweep
    found = Prediction(grid, early, finals).correlations()
    assert set(found) == {
        (number, update) for number in (*KNOWN_BEFORE, "noise", "truth", "same") for update in (8, 16)
    }
    for seed in SEEDS:
        rows = early[(early["seed"] == seed) & (early["update"] == 8)]
        expected = spearmanr(rows["noise"], [finals[arm][seed] for arm in rows["arm"]]).statistic
        assert found["noise", 8][seed] == pytest.approx(expected)
        assert found["truth", 16][seed] == pytest.approx(-1)
        assert math.isnan(found["same", 8][seed])


def test_of_placements_they_are_the_mean_over_each_by_itself(sweep):
    grid, early, finals = sweep
    found = Prediction(grid, early, finals).correlations(["pre_ln", "post_ln"])
    of_placements = []
    for placement in ("pre_ln", "post_ln"):
        mine = early[early["arm"].str.startswith(placement) & (early["seed"] == 31) & (early["update"] == 8)]
        of_placements.append(spearmanr(mine["noise"], [finals[arm][31] for arm in mine["arm"]]).statistic)
    assert found["noise", 8][31] == pytest.approx(sum(of_placements) / 2)
    assert found["truth", 16][31] == pytest.approx(-1)
    alone = Prediction(grid, early, finals).correlations(["post_ln"])
    assert alone["noise", 8][31] == pytest.approx(of_placements[1])


def test_the_rate_and_how_much_of_it_a_warmup_has_reached_were_known_before(sweep):
    grid, early, finals = sweep
    found = Prediction(grid, early, finals).correlations()
    assert found[LR_MAX, 8] == found[LR_MAX, 16]
    assert found[LR_MAX, 8][31] != 0
    rows = early[(early["seed"] == 31) & (early["update"] == 16)]
    updates = {"none": 1, "short": 60, "long": 300}
    rates = {"x1": 1e-3, "x2": 2e-3, "x4": 4e-3}
    reached = [rates[arm.rsplit("_")[-1]] * min(1, 16 / updates[arm.rsplit("_")[-2]]) for arm in rows["arm"]]
    expected = spearmanr(reached, [finals[arm][31] for arm in rows["arm"]]).statistic
    assert found[LR_REACHED, 16][31] == pytest.approx(expected)


def test_what_was_known_before_is_chosen_by_itself(sweep):
    grid, early, finals = sweep
    found = Prediction(grid, early, finals)
    assert {number for number, _ in found.candidates()} == {"noise", "truth"}, (
        "what is the same in all runs tells nothing"
    )
    assert {number for number, _ in found.candidates(known_before=True)} == set(KNOWN_BEFORE)
    chosen = found.held_out(LINE, known_before=True)
    assert {one.number for one in chosen} <= set(KNOWN_BEFORE)
    assert {one.number for one in found.held_out(LINE)} == {"truth"}


def test_a_predictor_is_chosen_by_the_other_seeds(sweep):
    grid, early, finals = sweep
    chosen = Prediction(grid, early, finals).held_out(LINE)
    assert [one.seed for one in chosen] == list(SEEDS)
    assert {(one.number, one.update) for one in chosen} == {("truth", 16)}
    assert all(one.correlation == pytest.approx(1) and one.in_order == 1 for one in chosen), "signed as in the others"
    assert most_often(chosen) == [(("truth", 16), 3)]


def test_what_holds_in_other_seeds_alone_fails_in_the_one_left_out(sweep):
    """A number that tells two seeds and is turned round in the third."""
    grid, early, finals = sweep
    turned = early.copy()
    mine = (turned["seed"] == 33) & (turned["update"] == 16)
    turned.loc[mine, "truth"] *= -1
    last = Prediction(grid, turned, finals).held_out(LINE)[-1]
    assert (last.seed, last.number, last.update) == (33, "truth", 16)
    assert last.correlation == pytest.approx(-1), "of the other sign than in the seeds that chose it"
    assert last.in_order == 0, "every pair the wrong way round"


def test_where_all_runs_are_good_no_pair_can_be_told_apart(sweep):
    grid, early, finals = sweep
    assert {one.in_order for one in Prediction(grid, early, finals).held_out(line=99.0)} == {None}


def test_the_share_in_order_is_the_area_under_the_roc_curve(sweep):
    """With ties, against scikit-learn."""
    grid, early, finals = sweep
    tied = early[early["update"] == 16].assign(truth=lambda rows: rows["truth"].round())
    for one in Prediction(grid, tied, finals).held_out(LINE):
        rows = tied[tied["seed"] == one.seed]
        failed = [finals[arm][one.seed] >= LINE for arm in rows["arm"]]
        assert one.number == "truth"
        assert one.in_order == pytest.approx(roc_auc_score(failed, -rows["truth"]))
        assert rows["truth"].nunique() < len(rows), "there are ties"


def test_runs_without_a_number_are_left_out_and_one_seed_chooses_nothing(sweep):
    grid, early, finals = sweep
    some = early.copy()
    some.loc[some["arm"] == "post_ln_none_x4", "truth"] = math.nan
    found = Prediction(grid, some, finals)
    assert found.correlations()["truth", 16][31] == pytest.approx(-1)
    assert {number for number, _ in found.candidates()} == {"noise"}, "nor can they be chosen"
    alone = Prediction(grid, early[early["seed"] == 31], finals)
    assert alone.held_out(LINE) == []
    assert alone.of_the_same_arm(LINE) == []


def test_a_number_that_almost_all_runs_have_can_be_chosen(sweep, monkeypatch):
    """A run that diverges has no number from then on."""
    grid, early, finals = sweep
    some = early[~((early["arm"] == "post_ln_none_x4") & (early["seed"] == 31))]
    assert Prediction(grid, some, finals).candidates() == []
    monkeypatch.setattr("lnexp.results.measures.prediction.LEAST", 17 / 18)
    found = Prediction(grid, some, finals)
    assert set(found.candidates()) == {("noise", 8), ("noise", 16), ("truth", 8), ("truth", 16)}
    assert not found.all_have(found.candidates())
    assert [(one.number, one.update, one.correlation) for one in found.held_out(LINE)] == [
        ("truth", 16, pytest.approx(1))
    ] * len(SEEDS)


def test_a_seed_that_an_arm_lacks_is_left_out(sweep):
    grid, early, finals = sweep
    some = {arm: dict(by_seed) for arm, by_seed in finals.items()}
    del some["post_ln_none_x4"][33]
    found = Prediction(grid, early, some)
    assert found.seeds == [31, 32]
    assert [one.seed for one in found.of_the_same_arm(LINE)] == [31, 32]
    assert [one.seed for one in found.held_out(LINE)] == [31, 32]


def test_the_arm_alone_tells_much_where_seeds_agree(sweep):
    grid, early, finals = sweep
    found = Prediction(grid, early, finals).of_the_same_arm(LINE)
    assert [one.seed for one in found] == list(SEEDS)
    assert min(one.correlation for one in found) > 0.99
    assert all(one.in_order == 1 for one in found), "every arm is good with all seeds or with none"


def test_within_arms_a_number_that_tells_arms_alone_tells_nothing(sweep):
    """One that is the same in all runs of an arm but for noise, and one that is the final nll itself."""
    grid, early, finals = sweep
    random = np.random.default_rng(4)
    of_arm = {arm: sum(by_seed.values()) for arm, by_seed in finals.items()}
    told = early.assign(
        arm_alone=early["arm"].map(of_arm) + random.normal(scale=0.01, size=len(early)),
        of_run=[finals[arm][seed] for arm, seed in zip(early["arm"], early["seed"], strict=True)],
    )
    found = Prediction(grid, told, finals)
    assert found.correlations()["arm_alone", 8][31] > 0.95
    within = found.within_arms([("arm_alone", 8), ("of_run", 8)])
    assert abs(within["arm_alone", 8]) < 0.3
    assert within["of_run", 8] == pytest.approx(1)


def test_the_mean_of_what_is_known():
    assert fmean_known([1.0, math.nan, 3.0]) == 2
    assert math.isnan(fmean_known([math.nan]))
