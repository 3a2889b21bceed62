"""The run that another one starts from is the run of the arm that a sweep trains."""

import pytest
from helpers import TINY_CORPUS, make_whole, run_script

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.launchers.plan import Plan
from lnexp.planning.epochs import extent, last_epoch
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.jobs import Job, jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.runs.folder import RunFolder
from lnexp.tasks import task_of

pytestmark = pytest.mark.slow


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
        UserError, match=r"post_ln_warmup_third, seed 101: starts from the run fig5/post_ln_warmup, seed 101, .* 8 more"
    ) as said:
        planned(["fig5_finetune"], ["n_seeds=1"], tmp_path)
    assert load_recipe("fig5_finetune").with_its_starts == ["fig5", "fig5_finetune"]
    assert load_recipe("fig5").with_its_starts == ["fig5"]
    assert "\n" not in str(said.value)


def test_a_start_that_the_sweep_trains_with_other_options_is_refused(tmp_path):
    """The start is the other recipe's own run, which an earlier sweep may have left."""
    with pytest.raises(UserError, match=r"_third, seed 101: starts from fig5/post_ln_warmup, seed 101, as"):
        planned(["fig5", "fig5_finetune"], ["n_seeds=1", "clip_norm=0.5"], tmp_path)


SHORT = ["n_seeds=1", "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 12}", "arms=['post_ln_warmup*']"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("scale.sentence_pairs.whole=7", r"post_ln_warmup_whole, seed 101: start.epoch=7: .*seed 101 ends in epoch 6"),
        ("checkpoints.keep=last", r"post_ln_warmup_third, seed 101: start.epoch=2: .* may keep no checkpoint of that"),
    ],
)
def test_an_epoch_that_pre_training_will_not_keep_is_refused_before_it(tmp_path, option, said):
    plan = planned(["fig5", "fig5_finetune"], [*SHORT, option], tmp_path)
    with pytest.raises(UserError, match=said) as refused:
        plan.refuse_missing_epochs(compose)
    assert "\n" not in str(refused.value)
    planned(["fig5", "fig5_finetune"], SHORT, tmp_path).refuse_missing_epochs(compose)


def test_an_epoch_that_finished_pre_training_does_not_have_is_refused_before_others_train(tmp_path):
    before, after = planned(["fig5"], SHORT, tmp_path), ["fig5", "fig5_finetune"]
    (run,) = (one for one in before.missing if one.name == "fig5/post_ln_warmup, seed 101")
    folder = RunFolder.of(compose(run.overrides))
    folder.checkpoints.mkdir(parents=True)
    folder.write_config(check_and_resolve(compose(run.overrides)))
    for epoch in (2, 4, 6):
        make_whole(folder.saved.of_epoch(epoch))
    for state in ("finished", "diverged"):
        folder.set_status(state, updates=60)
        keeping = [*SHORT, "other_code=keep"]
        assert run.identity not in {one.identity for one in planned(after, keeping, tmp_path).missing}
        whole = [*keeping, "scale.sentence_pairs.whole=7"]
        if state == "finished":
            said = r"^fig5_finetune/post_ln_warmup_whole, seed 101: start.epoch=7: .* \(it has: 2, 4, 6\)"
            with pytest.raises(UserError, match=said):
                planned(after, whole, tmp_path)
        else:
            planned(after, whole, tmp_path)  # its own followers fail, and others are trained


def test_epochs_of_pre_training_that_ends_by_updates_are_counted(tmp_path, prepared):
    """At profile paper fig5 ends by its updates, and how many epochs they are follows from the text."""
    tiny = [TINY_CORPUS, "max_tokens=512", "blocks.break_mode=eos", f"data_dir={prepared}"]
    base = ["task=masked_lm", "data=bert_toy", *tiny, "max_epoch=1000"]
    an_epoch = extent(compose(base), task_of(compose(base)).work(compose(base))).updates_an_epoch
    assert last_epoch(compose([*base, f"max_update={3 * an_epoch}"])) == 3
    assert last_epoch(compose([*base, f"max_update={3 * an_epoch + 1}"])) == 4


def test_a_sweep_refuses_such_an_epoch_before_it_trains(tmp_path):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}", "tracker=none"]
    done = run_script("train", "-m", "+recipe=fig5,fig5_finetune", *SHORT, *where, "scale.sentence_pairs.whole=7")
    assert done.returncode == 2
    assert "error: fig5_finetune/post_ln_warmup_whole, seed 101: start.epoch=7" in done.stderr
    assert not list(tmp_path.glob("runs/*/*-*")), "nothing was trained"


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
