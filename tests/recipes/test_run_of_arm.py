"""The run that another one starts from is the run of the arm that a sweep trains."""

import pytest

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.launchers.plan import Plan
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Job, jobs_of


def planned(recipes: list[str], rest: list[str], runs_dir) -> Plan:
    rest = ["profile=small", f"runs_dir={runs_dir}", *rest]
    jobs = [
        [*with_corpus(recipe, "small", rest), *job.overrides]
        for recipe in map(load_recipe, recipes)
        for job in jobs_of(recipe, compose(rest))
    ]
    return Plan.of(jobs, compose, str(runs_dir))


def test_fine_tuning_starts_from_the_runs_that_its_sweep_trains(tmp_path):
    rest = ["n_seeds=1", "first_seed=3", "scale.toy.train_pairs=90", "precision=bf16"]
    plan = planned(["fig5", "fig5_finetune"], rest, tmp_path)
    arms = {run.identity: run.arms for run in plan.members.values()}
    starts = [(run.name, arms[run.after]) for run in plan.missing if run.after]
    assert {arm for _, (arm,) in starts} == {"fig5/post_ln_warmup", "fig5/pre_ln_high", "fig5/pre_ln_low"}
    for name, (arm,) in starts:
        assert name.startswith(f"fig5_finetune/{arm.removeprefix('fig5/')}")
    assert len(plan.missing) - len(starts) == 5 + 2, "pre-training, and two arms from scratch"


def test_runs_whose_start_is_neither_trained_nor_asked_for_are_refused_in_a_line(tmp_path):
    with pytest.raises(
        UserError, match=r"post_ln_warmup_third, seed 21: starts from the run fig5/post_ln_warmup, seed 21, .* 8 more"
    ) as said:
        planned(["fig5_finetune"], ["n_seeds=1"], tmp_path)
    assert load_recipe("fig5_finetune").with_its_starts == ["fig5", "fig5_finetune"]
    assert load_recipe("fig5").with_its_starts == ["fig5"]
    assert "\n" not in str(said.value)


def test_a_config_without_a_recipe_names_its_run(tmp_path):
    cfg = compose(["task=sentence_pairs", "data=bert_toy", "start.run=1a2b3c4d", "start.epoch=1"])
    assert check_and_resolve(cfg).start.run == "1a2b3c4d"


@pytest.mark.parametrize(("name", "updates"), [("fig5_finetune", 115 * 5), ("fig5_finetune_rte", 78 * 5)])
def test_warm_up_of_fine_tuning_is_a_tenth_of_the_updates(name, updates):
    """The updates are those that ``plan.py`` counts; the recipes say that T_warmup is a tenth of them."""
    recipe = load_recipe(name)
    paths = ["data.path=none", "data.pairs.path=none"]
    job = Job(recipe, "paper", recipe.arms["post_ln_scratch"], 21)
    cfg = compose(["profile=paper", "data=wikipedia_books", *job.overrides, *paths])
    assert cfg.warmup_updates == updates // 10
