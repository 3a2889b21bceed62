"""Options that only some tasks have reach the recipes of these tasks, and no other one."""

import pytest
from helpers import run_script

from lnexp.configuration import check, compose
from lnexp.errors import UserError
from lnexp.recipes.command_line import check_overrides, own_options, with_corpus
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.recipes.task_options import for_task, tasks_with
from lnexp.results.evidence.collect import collect
from lnexp.runs.identity import identity

pytestmark = pytest.mark.slow

FIG5, FINE_TUNING = load_recipe("fig5"), load_recipe("fig5_finetune")
BERT = [FIG5, FINE_TUNING]
SIZE = "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 12}"


@pytest.mark.parametrize(
    ("key", "tasks"),
    [
        ("start.seed", {"sentence_pairs"}),
        ("pairs", {"sentence_pairs"}),
        ("data.pairs.path", {"sentence_pairs"}),
        ("blocks.tokens", {"masked_lm"}),
        ("evaluation.test_beam", {"translation"}),
        ("data.source_lang", set()),
        ("model.decoder_embed_dim", set()),
        ("lr_max", set()),
        ("data.path", set()),
        ("fairseq.task.left_pad_target", {"translation"}),
    ],
)
def test_an_option_is_of_the_tasks_that_have_it(key, tasks):
    assert tasks_with(key) == tasks


def test_each_recipe_is_given_what_its_task_has():
    said = ["data=bert_text", "pairs=tatoeba", "data.pairs.path=x", "start.seed=21", "max_update=3", "blocks.tokens=64"]
    assert for_task(said, "masked_lm") == ["data=bert_text", "max_update=3", "blocks.tokens=64"]
    assert with_corpus(FINE_TUNING, "small", said) == said[:-1]
    assert with_corpus(FIG5, "small", said) == ["data=bert_text", "max_update=3", "blocks.tokens=64"]
    assert "pairs=tatoeba" in own_options(FINE_TUNING, "small", said)
    assert "pairs=tatoeba" not in own_options(FIG5, "small", said)


def test_an_option_that_no_recipe_has_is_refused_in_a_line():
    check_overrides(BERT, ["start.seed=21", "pairs=tatoeba"])
    with pytest.raises(UserError, match=r"^start\.seed=21: an option of task=sentence_pairs, not of masked_lm$"):
        check_overrides([FIG5], ["start.seed=21"])


def test_what_a_recipe_sets_at_another_profile_is_free_at_this_one():
    check_overrides([FIG5], ["max_update=3", "profile=small"])
    with pytest.raises(UserError, match=r"max_update=3: recipe fig5 sets max_update itself"):
        check_overrides([FIG5], ["max_update=3", "profile=paper"])
    with pytest.raises(UserError, match=r"pairs=mrpc: recipe fig5_finetune_rte sets pairs itself"):
        check_overrides([load_recipe("fig5_finetune_rte")], ["pairs=mrpc", "profile=paper"])


def test_all_seeds_start_from_the_pre_training_of_one(where):
    """As the paper has it: six seeds of fine-tuning."""
    said = ["profile=small", SIZE, *where, "n_seeds=2"]
    (before,) = (run for run in collect(FIG5, [*said, "arms=pre_ln_low"]) if run.job.seed == 101)
    said += ["arms=pre_ln_low_whole"]
    runs = list(collect(FINE_TUNING, [*said, "start.seed=101"]))
    assert [run.job.seed for run in runs] == [101, 102]
    assert {run.cfg.start.run for run in runs} == {before.identity}
    others = list(collect(FINE_TUNING, said))
    assert runs[0].identity == others[0].identity
    assert runs[1].identity != others[1].identity
    assert runs[1].identity == identity(
        compose([*with_corpus(FINE_TUNING, "small", [*said, "start.seed=101"]), *runs[1].job.overrides])
    )
    assert runs[0].own_options == (SIZE, "start.seed=101"), "tables say that the recipe states another start"
    assert "start.seed=101" in runs[1].command


@pytest.mark.parametrize("script", ["train", "plan", "collect", "prepare_data"])
def test_every_command_takes_them(script, where, tmp_path):
    """What the plan of a sweep refuses comes after its options are read."""
    words = ["+recipe=fig5_finetune", SIZE, "start.seed=101", "n_seeds=1", "arms=pre_ln_low_whole", *where]
    words += {"train": ["-m"], "plan": [], "collect": ["--results", str(tmp_path)], "prepare_data": []}[script]
    done = run_script(script, *words)
    if script == "train":
        assert "starts from the run fig5/pre_ln_low, seed 101, which is neither trained nor in this" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


def test_fine_tuning_on_another_corpus_is_checked_whole(where, tmp_path):
    """``make reproduce-bert DATA=bert_text``, with pairs said and not said."""
    rest = ["profile=small", "data=bert_text", "data.path=none", "data.text.sha256=none", "subword=none", *where]
    for more in ([], ["pairs=tatoeba"]):
        for recipe in BERT:
            own = [] if recipe is FIG5 else ["data.pairs.sha256=none"]
            job, *_ = jobs_of(recipe, compose(rest))
            cfg = compose([*with_corpus(recipe, "small", [*rest, *more]), *job.overrides, *own])
            check(cfg)
            assert cfg.data.get("pairs", {}).get("name") == (None if recipe is FIG5 else "tatoeba")
