"""What runs cost, against a run that was made."""

import pytest
from helpers import TINY, TINY_CORPUS, error_of, only_run, run_script, scored
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.planning import arms
from lnexp.planning.arms import lines
from lnexp.planning.asked import asked
from lnexp.planning.cost import costs_of
from lnexp.planning.devices import DEVICES, all_reduce_seconds, seconds
from lnexp.planning.sheet import gpu_hours, until_all_are_done
from lnexp.planning.time_limit import time_limit
from lnexp.tasks.translation.planning import work_of

pytestmark = pytest.mark.slow


def config(*overrides: str):
    cfg = compose([*TINY, *overrides])
    OmegaConf.resolve(cfg)
    return cfg


@pytest.mark.parametrize("limit", ["max_tokens=60", "fairseq.dataset.batch_size=4"])
def test_text_and_updates_are_those_of_a_real_run(tmp_path, where, limit):
    settings = [limit, "update_freq=3", "max_epoch=2"]
    done = run_script("train", *TINY, *settings, *where)
    assert done.returncode == 0, done.stderr
    epoch, last, _ = scored(only_run(tmp_path))
    (cost,) = costs_of(config(*settings, *where), [1], device=None)
    assert (cost.updates_an_epoch, cost.updates) == (epoch["update"], last["update"])
    assert cost.work.target_tokens == pytest.approx(epoch["tokens_per_second"] * epoch["seconds"], rel=0.01)
    assert not cost.work.assumed
    assert cost.hours > 0


def test_a_run_that_ends_by_updates_costs_no_more_of_them(where):
    cfg = config("max_tokens=60", "max_epoch=4", "checkpoints.keep=all", *where)
    (whole,) = costs_of(cfg, [1], DEVICES["h100"])
    cfg.max_update = whole.updates_an_epoch + 1
    (short,) = costs_of(cfg, [1], DEVICES["h100"])
    assert short.updates == whole.updates_an_epoch + 1
    share = short.updates / whole.updates
    assert short.flops == pytest.approx(whole.flops * share)
    assert short.hours == pytest.approx(whole.hours * share)
    assert short.disk == pytest.approx(whole.disk / 2, rel=0.01), "one whole epoch, and the one it ends in"


def test_processes_share_an_update(where):
    one, four = costs_of(config("update_freq=8", *where), [1, 4], DEVICES["h100"])
    assert four.updates == one.updates
    together = all_reduce_seconds(DEVICES["h100"], one.step.gradient_bytes, 4) * four.updates / 3600
    assert together > 0
    assert four.hours == pytest.approx(one.hours / 4 + together)
    buffer = four.memory - one.memory  # that gradients are added up in; fairseq's meters are a few bytes beside it
    assert buffer == pytest.approx(one.step.gradient_bytes, rel=0.001)
    with pytest.raises(UserError, match="cannot be shared evenly among 3"):
        costs_of(config("update_freq=8", *where), [3], None)


def test_a_corpus_that_is_not_here_is_guessed_or_asked_for(tmp_path):
    cfg = config("data=wmt14", f"data_dir={tmp_path}", "max_tokens=8192")
    work = work_of(cfg)
    assert work.assumed
    assert work.pairs == 4_500_000
    assert work.largest.source_words == 37_000
    of_few = work_of(config("data=wmt14", f"data_dir={tmp_path}", "max_tokens=8192", "++fairseq.dataset.batch_size=32"))
    assert (of_few.largest.examples, of_few.batches) == (32, 140_625)
    assert work_of(config("data=wmt14", f"data_dir={tmp_path}", "max_tokens=16")).largest.examples == 1
    folder = tmp_path / "mine"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        for side in ("de", "en"):
            (folder / f"{split}.{side}").write_text("a\n")
    cfg = config("data=plain", f"data.path={folder}", "data.name=mine", f"data_dir={tmp_path}")
    with pytest.raises(UserError, match=r"data=mine: not prepared yet; say scripts/prepare_data.py"):
        work_of(cfg)


def test_pre_training_is_planned_without_its_text_where_its_size_is_known(tmp_path):
    options = ["task=masked_lm", "max_update=1000", "model.encoder_layers=1", f"data_dir={tmp_path}"]
    options += ["profile=small", "device=h100"]
    done = run_script(
        "plan", *options, "data=wikipedia_books", "blocks.tokens=64", "update_freq=4", env={"COLUMNS": "200"}
    )
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "about 63,750,000 blocks, 4,080,000,000 tokens, 7,968,750 batches of at most 512" in words
    assert "1,992,188 updates of 4" in words
    assert "the corpus is not prepared here" in words
    assert "disk: of the checkpoints when all is over, which are those of every epoch" in words
    assert "newest" not in words, "pre-training keeps them all"
    unknown = run_script("plan", *options, "data=bert_plain")
    assert unknown.returncode == 2
    assert "data.path" in unknown.stderr


def test_time_is_that_of_the_slowest():
    h100 = DEVICES["h100"]
    assert seconds(h100, "bf16", 989e12, 0, 1) == pytest.approx(2.5)
    assert seconds(h100, "bf16", 0, 3.35e12, 1) == pytest.approx(2.5)
    assert seconds(h100, "bf16", 1e9, 1e6, 1_000_000) == pytest.approx(6)
    assert seconds(h100, "fp32", 1e15, 0, 1) > seconds(h100, "bf16", 1e15, 0, 1)


def test_hours_of_gpus_are_not_rounded_away():
    assert gpu_hours(0.312) == ", 0.31 GPU hours"
    assert gpu_hours(12_345.6) == ", 12,346 GPU hours"


def test_gradients_are_sent_round_a_ring():
    h100 = DEVICES["h100"]
    assert all_reduce_seconds(h100, 10**9, 1) == 0
    assert all_reduce_seconds(h100, 450 * 10**9, 2) == pytest.approx(2.5)
    assert all_reduce_seconds(h100, 450 * 10**9, 8) == pytest.approx(2.5 * 2 * 7 / 8)


def test_the_command_prints_a_sheet_and_trains_nothing(tmp_path, prepared):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}", TINY_CORPUS]
    done = run_script("plan", "+recipe=fig4cd", "profile=small", "device=h100", "gpus=1", "precision=bf16", *where)
    assert done.returncode == 0, done.stderr
    for said in ("toy at small, 1 × H100 SXM", "40 runs, ", "fig4cd/pre_ln_low +1 ", "a guess", "120 pairs"):
        assert said in " ".join(done.stdout.split()), done.stdout
    assert done.stderr == ""
    assert not (tmp_path / "runs").exists()


def test_a_sweep_is_planned_as_it_is_trained_and_a_shared_run_counts_once(tmp_path, prepared, monkeypatch):
    monkeypatch.setattr(arms, "costs_of", lambda *_: (None, None))  # what a run costs is no matter here
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}", *TINY, TINY_CORPUS, "device=cpu"]

    def counts(*words):
        return [line.runs for line in lines([*words, *where], "cpu", 1, None)]

    assert counts("model=pre_ln") == [1]
    assert counts("model=pre_ln", "seed=1,2,3", "lr_max=1e-3,2e-3") == [6]
    assert sorted(counts("model=pre_ln,peri_ln", "seed=1,2")) == [2, 2]
    sizes = [option for option in TINY if option.startswith("model.")]
    small = [f"data_dir={prepared}", TINY_CORPUS, *sizes, "profile=small", "n_seeds=2"]
    one, both = (
        sum(line.runs for line in lines([f"+recipe={names}", *small], "cpu", 1, None))
        for names in ("fig2a", "fig2a,warmup_sensitivity")
    )
    recipes = ("fig2a", "warmup_sensitivity")
    found = [one for name in recipes for one in asked([f"+recipe={name}", *small])]
    identities = {run for one in found for run in one.runs}
    assert one == 8
    assert both == len(identities) < 8 + 12


def test_runs_at_once_end_with_the_last_one():
    assert until_all_are_done([1.0, 1.0, 1.0, 3.0], 2) == 3.0
    assert until_all_are_done([2.0, 2.0, 2.0], 2) == 4.0
    assert until_all_are_done([1.0], 8) == 1.0


def test_gpus_of_a_run_are_told_from_runs_at_once(prepared):
    where = [f"data_dir={prepared}", TINY_CORPUS, "profile=small", "update_freq=2", "precision=bf16"]
    done = run_script("plan", "-m", "model=pre_ln", "seed=1,2", "device=h100", "gpus=2", *where)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "2 runs, " in words
    assert "one after another, each on 2 GPUs: " in words
    assert "2 at once, each on one GPU: " in words


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (["max_epoch=1"], "hydra.launcher.timeout_min=1440: the longest run trains for 0:"),
        (["hydra.launcher.timeout_min=1", "max_epoch=99999"], "warning: hydra.launcher.timeout_min=1: the longest run"),
    ],
)
def test_the_limit_of_a_job_is_compared_with_the_time_of_a_run(prepared, limit, said):
    done = run_script("plan", f"data_dir={prepared}", *TINY, "hydra/launcher=submitit_slurm", *limit)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert said in words
    assert "validation and test disk" in words, "no word of CUDA's memory on a CPU"


def test_what_of_a_launcher_changes_nothing_is_said(prepared):
    launcher = ["hydra/launcher=array", "hydra.launcher.processes=2", "hydra.launcher.max_members=4"]
    done = run_script("plan", f"data_dir={prepared}", *TINY, "max_epoch=1", *launcher)
    assert done.returncode == 0, done.stderr
    assert "warning: hydra.launcher.processes=2, hydra.launcher.max_members=4: no part of a plan" in done.stderr


def test_a_launcher_without_a_limit_is_not_looked_at():
    assert time_limit(["hydra/launcher=joblib"]) is None
    assert time_limit([]) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=x"], "hydra.launcher.timeout_min=x: must be a"),
        (["device=h1000"], "device=h1000: no such device; did you mean h100"),
        (["device=cuda"], "device=cuda: no GPU is visible"),
        (["gpus=0"], "gpus=0: must be at least 1"),
        (["gpus=two"], "gpus=two: must be a whole number, at least 1"),
        (["gpus=²"], "gpus=²: must be a whole number, at least 1"),
        (["device=v100", "precision=bf16"], "precision=bf16: not on a V100"),
        (["+recipe=fig4cd", "lr_max=1"], "recipe fig4cd sets lr_max itself"),
        (["+recipe=fig3"], "fig3"),
        (["optimizer.eps=nan"], "optimizer or lr_schedule: Invalid epsilon value: nan"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(words, said):
    done = run_script("plan", *words, env={"COLUMNS": "200"})
    assert said in error_of(done)
