"""Our configs and fairseq's in one process, in any order; one value under two names."""

import subprocess

import pytest
from helpers import PYTHON, ROOT, TINY, run_script
from hydra.core.config_store import ConfigStore

from lnexp.configuration import compose, hydra_compose
from lnexp.launchers.plan import Plan
from lnexp.plain import plain
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.runs.identity import identity, readable_name

#: fairseq keeps schemas of these names, and we have files of these names.
SHARED_NAMES = ("optimizer/adam.yaml", "task/translation.yaml")


def stock_config():
    """The config that ``fairseq-train`` composes of a command line."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from hydra.version import setbase

    setbase("1.1")
    words = ["nowhere", "--arch", "transformer", "--task", "translation", "--optimizer", "adam", "--max-tokens", "7"]
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))


def test_importing_ours_leaves_fairseqs_configs_and_the_other_way_round():
    before = plain(hydra_compose([]))
    import lnexp.theory.models
    import lnexp.training.loop  # noqa: F401

    for _ in range(2):
        assert plain(hydra_compose([])) == before
        for name in SHARED_NAMES:
            assert ConfigStore.instance().load(name).provider == "fairseq"
        stock = stock_config()
        assert (stock.optimizer._name, stock.dataset.max_tokens) == ("adam", 7)
        assert list(stock.optimizer.adam_betas) == [0.9, 0.999]


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_worker_composes_its_second_job_after_fairseq_is_imported(where, launcher):
    jobs = [option for option in ("hydra.launcher.n_jobs=1",) if launcher == "joblib"]
    options = ["max_epoch=1", "seed=1,2", f"hydra/launcher={launcher}", *jobs]
    done = run_script("train", "-m", "-v", *TINY, *where, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" | finished") == 2


@pytest.mark.slow
def test_the_command_leaves_fairseqs_configs_where_they_are(where):
    code = (
        "import runpy, sys\n"
        "from hydra.core.config_store import ConfigStore\n"
        f"runpy.run_path({str(ROOT / 'scripts' / 'train.py')!r}, run_name='__main__')\n"
        f"print([ConfigStore.instance().load(name).provider for name in {SHARED_NAMES}])"
    )
    words = [*PYTHON, "-c", code, *TINY, *where, "max_epoch=1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['fairseq', 'fairseq']"


def test_a_run_is_named_by_what_it_trains_with_whichever_name_was_used():
    cfg = compose(["lr_schedule.warmup_updates=7", "fairseq.optimization.lr=[1e-3]", "fairseq.common.seed=5"])
    assert readable_name(cfg) == "post_ln-adam-lr0.001-w7-inverse_sqrt-s5"
    assert (cfg.lr_schedule.warmup_updates, cfg.fairseq.lr_scheduler.warmup_updates) == (7, 7)


def test_a_run_that_ends_by_updates_keeps_its_identity():
    known = "59d61059"  # at the first version of the numerics
    theirs, ours = compose(["fairseq.optimization.max_update=7"]), compose(["max_update=7"])
    assert identity(theirs, numerics=1) == identity(ours, numerics=1) == known
    assert identity(compose(["max_update=null"])) == identity(compose([]))


def test_a_sweep_of_a_recipe_plans_runs_that_end_by_updates(tmp_path):
    jobs = [job.overrides for job in jobs_of(load_recipe("fig3_warmup"), compose(["n_seeds=1"]))]
    plan = Plan.of(jobs, compose, str(tmp_path))
    assert {(member.max_epoch, member.max_update, member.task) for member in plan.members.values()} == {
        (8, 300, "translation")
    }
