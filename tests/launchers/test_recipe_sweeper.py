"""Sweeps: every run of a recipe once, what is done not again, and a failure that takes nobody along."""

import json

import pytest
from helpers import ROOT, TINY, run_script

from lnexp.commands.train import refuse_other_than_the_arm
from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.runs.records import of_kind, read

SMALL = [option for option in TINY if not option.startswith("warmup")] + ["max_epoch=1", "n_seeds=1"]


def states(tmp_path) -> dict[str, str]:
    folders = (tmp_path / "runs").glob("*/*-*")
    return {folder.name: json.loads((folder / "status.json").read_text())["state"] for folder in folders}


@pytest.mark.slow
def test_a_recipe_runs_once_and_shared_runs_only_once(tmp_path, where):
    sweep = ["-m", "+recipe=fig2a,fig4ab"]
    done = run_script("train", *sweep, *SMALL, *where, "hydra/launcher=joblib")
    # linear decay needs more updates than the single warm-up update: one epoch of the tiny corpus has them
    assert done.returncode == 0, done.stderr
    assert "9 arms × seeds are 7 runs, 0 of them done already" in done.stdout
    assert set(states(tmp_path).values()) == {"finished"}
    assert len(states(tmp_path)) == 7
    again = run_script("train", *sweep, *SMALL, *where, "hydra/launcher=joblib")
    assert again.stdout == "fig2a, fig4ab: 9 arms × seeds are 7 runs, 7 of them done already\n"


#: Recipe fig5 with a model of one layer, and two epochs.
SMALL_FIG5 = """
variant:
  of: fig5
  suffix: small
  since: 1234abc
  profiles: [small]
  replacing:
    model.encoder_layers=12: model.encoder_layers=1
    scale.toy.valid_pairs=500: scale.toy.valid_pairs=10
    max_epoch=6: max_epoch=2
"""


@pytest.mark.slow
def test_a_recipe_takes_a_corpus_of_one_language_that_is_named(tmp_path):
    (tmp_path / "mine.yaml").write_text(SMALL_FIG5)
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}", "tracker=none"]
    tiny = ["scale.toy.train_pairs=40", "scale.toy.test_pairs=40", "scale.masked_lm.warmup_updates=2", "n_seeds=1"]
    recipe = f"+recipe={tmp_path / 'mine.yaml'}"
    done = run_script("train", "-m", recipe, "data=bert_toy", *tiny, *where, "hydra/launcher=array")
    assert done.returncode == 0, done.stderr
    assert "5 runs" in done.stdout
    assert set(states(tmp_path).values()) <= {"finished", "diverged"}
    assert len(states(tmp_path)) == 5


@pytest.mark.slow
def test_a_plain_sweep_is_hydras_own(tmp_path, where):
    done = run_script("train", "-m", "model=post_ln,pre_ln", "seed=1,2", *TINY, "max_epoch=1", *where)
    assert done.returncode == 0, done.stderr
    assert len(states(tmp_path)) == 4


@pytest.mark.slow
def test_a_failing_run_takes_no_other_down(tmp_path, where):
    # the middle one has a schedule that ends before its warm-up does
    arguments = ["lr_schedule=linear", "lr_schedule.total_updates=50", "warmup_updates=1,4000,2"]
    tiny = [option for option in TINY if not option.startswith("warmup")]
    done = run_script("train", "-m", *arguments, *tiny, "max_epoch=1", *where)
    assert done.returncode == 2
    assert "1 of 3 runs failed" in done.stderr
    assert "warmup_updates=4000" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(states(tmp_path).values()) == ["failed", "finished", "finished"]


@pytest.mark.slow
def test_tables_figures_and_verdicts_follow_from_the_run_folders(tmp_path, where):
    words = ["+recipe=fig2a", *SMALL, *where]
    assert run_script("train", "-m", *words).returncode == 0
    results = ["--results", str(tmp_path / "results")]
    done = run_script("collect", *words, *results)
    assert done.returncode == 0, done.stderr
    assert "fig2a: 4 of 4 runs are over" in done.stdout
    table = run_script("verify", *results)
    assert table.returncode == 0
    assert "inconclusive: fig2a-no-warmup-fails-low*" in table.stdout
    as_json = json.loads(run_script("verify", "--json", "--recipe", "fig2a", *results).stdout)
    assert {claim["verdict"] for claim in as_json[0]["claims"]} <= {"inconclusive", "not run"}, "one seed shows nothing"
    (tmp_path / "results" / "small" / "toy" / "fig2a" / "verdicts.json").write_text("{}")
    assert run_script("verify", *results).returncode == 1


PLUGINS = """
from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore

class BackwardsLauncher(BasicLauncher):
    def launch(self, job_overrides, initial_job_idx):
        return super().launch(job_overrides[::-1], initial_job_idx)[::-1]

class SearchingSweeper(BasicSweeper):
    def sweep(self, arguments):
        (jobs,) = super().sweep(arguments)
        print("values:", [round(job.return_value, 3) for job in jobs])

for group, name in (("launcher", "Backwards"), ("sweeper", "Searching")):
    node = {"_target_": f"hydra_plugins.users.{name}{group.capitalize()}"}
    node |= {"max_batch_size": None, "params": None} if group == "sweeper" else {}
    ConfigStore.instance().store(group=f"hydra/{group}", name=name.lower(), node=node)
"""


@pytest.mark.slow
def test_a_launcher_and_a_sweeper_of_the_users_work(tmp_path, where):
    (tmp_path / "hydra_plugins").mkdir()
    (tmp_path / "hydra_plugins" / "users.py").write_text(PLUGINS)
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    two = ["-m", "-v", *TINY, "max_epoch=1", "seed=1,2", *where]
    done = run_script("train", *two, "hydra/launcher=backwards", env=env, fresh=True)
    assert done.returncode == 0, done.stderr
    starts = [line for line in done.stdout.splitlines() if "starts" in line]
    assert ["-s2-" in starts[0], "-s1-" in starts[1]] == [True, True]
    done = run_script("train", *two, "hydra/sweeper=searching", env=env, fresh=True)
    assert done.returncode == 0, done.stderr
    nll = [of_kind("epoch", read(path))[0]["valid_nll"] for path in (tmp_path / "runs").glob("*/*/metrics.jsonl")]
    values = json.loads(done.stdout.partition("values: ")[2].splitlines()[0])
    assert sorted(values) == sorted(round(value, 3) for value in nll), "also of runs that were finished already"


@pytest.mark.parametrize(
    ("arm", "said"), [("no_warmup_low", "a name makes no settings"), ("no_warmup_lo", "did you mean no_warmup_low")]
)
def test_a_single_run_has_no_arms_name_without_its_settings(where, arm, said):
    done = run_script("train", "+recipe=fig2a", f"+arm={arm}", *TINY, *where)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_command_that_a_sweep_prints_has_its_arms_settings():
    """An option of the user's may be a part of one that the recipe sets."""
    recipe, rest = load_recipe("fig5_finetune"), ["scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 12}"]
    job = Job(recipe, "small", recipe.arms["post_ln_warmup_third"], 21)
    said = [*with_corpus(recipe, "small", rest), *job.overrides]
    refuse_other_than_the_arm(compose(said), said)
    with pytest.raises(UserError, match="a name makes no settings"):
        refuse_other_than_the_arm(compose([*said, "lr_max=0.5"]), [*said, "lr_max=0.5"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["profile=medium", "+recipe=fig3_warmup", "+arm=post_ln"], "profile=medium: recipe fig3_warmup has none"),
        (["+recipe=fig2a", "+arm=1"], r"\+arm=1: recipe fig2a has none"),
    ],
)
def test_a_profile_or_an_arm_that_a_recipe_lacks_is_a_line(words, said):
    with pytest.raises(UserError, match=said):
        refuse_other_than_the_arm(compose(words), words)


def test_a_recipe_needs_our_sweeper(where):
    done = run_script("train", "-m", "+recipe=fig2a", *where, "hydra/sweeper=basic")
    assert done.returncode == 2
    assert "only hydra/sweeper=recipe sweeps recipes" in done.stderr
    assert "Traceback" not in done.stderr
