"""Test sentences of two arms, read from run folders, and ``scripts/bootstrap.py``, which compares them."""

import json
import statistics

import numpy as np
import pytest
from helpers import TINY_CORPUS, error_of, run_script

from lnexp.configuration import check_and_resolve, compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.sentence_tests import read_sentence_tests
from lnexp.runs.folder import RunFolder
from lnexp.tasks import load_task
from lnexp.tasks.translation.scores import scores_of_test

ARMS = ("warmup_low", "no_warmup_low")
EPOCH = {"epoch": 1, "update": 60, "valid_bleu": 5.0, "valid_nll": 1.0, "valid_loss": 1.5, "lr": 0.1, "seconds": 1.0}


@pytest.fixture
def overrides(tmp_path, prepared) -> list[str]:
    return [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}", TINY_CORPUS, "first_seed=21", "n_seeds=2"]


@pytest.fixture
def folders(overrides) -> dict[tuple[str, int], RunFolder]:
    """The folders of two finished seeds of each arm; without warm-up half of the words are wrong, with it some."""
    return {
        (arm, seed): finished(overrides, arm, seed, wrong)
        for arm, wrong in zip(ARMS, (0.1, 0.5), strict=True)
        for seed in (21, 22)
    }


def finished(overrides: list[str], arm: str, seed: int, wrong: float) -> RunFolder:
    recipe = load_recipe("fig2a")
    cfg = check_and_resolve(compose([*overrides, *Job(recipe, "small", recipe.arms[arm], seed).overrides]))
    corpus, folder, random = prepare(cfg.data, cfg.data_dir), RunFolder.of(cfg), np.random.default_rng(seed)
    translations = [
        " ".join("wrong" if random.random() < wrong else word for word in line.split())
        for line in corpus.lines("test", "en")
    ]
    folder.path.mkdir(parents=True)
    folder.write_lines("hypotheses/test.txt", translations)
    folder.append({"kind": "epoch", **EPOCH})
    folder.append({"kind": "end", "checkpoint_epoch": 1, **scores_of_test(translations, corpus, cfg)})
    data = {"sha256": corpus.manifest["sha256"]}
    folder.write_environment({"cpu": "a processor", "device": "cpu", "data": data, "git": {}})
    folder.set_status("finished", updates=60)
    return folder


def read(overrides: list[str], *arms: str):
    return read_sentence_tests(load_recipe("fig2a"), arms or ARMS, overrides)


def recorded(folder: RunFolder) -> float:
    return json.loads(folder.metrics.read_text().splitlines()[-1])["test_bleu"]


@pytest.mark.slow
def test_the_command_compares_two_arms(overrides, folders):
    done = run_script("bootstrap", "+recipe=fig2a", *ARMS, *overrides, "--samples", "200")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "fig2a at small on toy: test BLEU, mean over 2 seeds (21, 22), 20 sentences"
    means = [statistics.fmean(recorded(folders[arm, seed]) for seed in (21, 22)) for arm in ARMS]
    assert [float(line.split()[0]) for line in lines[1:4]] == pytest.approx([*means, means[0] - means[1]], abs=0.006)
    assert "difference, 95% interval [" in lines[3]
    assert lines[3].endswith("p = 0.01"), "twice one of 201"
    assert lines[4].startswith("BLEU: `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert " ".join(lines[5:]).startswith("Of 200 resamples of seeds and sentences: an interval without 0 ")
    assert "show 0.71 of the standard deviation" in " ".join(lines[5:])
    assert max(map(len, lines)) <= 80


def test_seeds_that_one_arm_lacks_are_left_out(overrides, folders):
    overrides = [*overrides[:-1], "n_seeds=3"]
    finished(overrides, ARMS[0], 23, 0.1)
    found = read(overrides)
    assert found.seeds == [21, 22]
    assert found.counts.shape == (2, 2, 20, 10)


def test_a_diverged_run_that_was_not_tested_has_bleu_0(overrides, folders):
    folder = folders[ARMS[1], 22]
    folder.write_lines("hypotheses/test.txt", [])
    folder.metrics.write_text("")
    folder.append({"kind": "end", **load_task("translation").no_scores()})
    folder.set_status("diverged")
    found = read(overrides)
    assert found.score(found.counts[1, 1].sum(axis=0)) == 0


def one_seed(folders: dict[tuple[str, int], RunFolder]) -> None:
    folders[ARMS[0], 21].set_status("running")


def none_over(folders: dict[tuple[str, int], RunFolder]) -> None:
    for seed in (21, 22):
        folders[ARMS[1], seed].set_status("failed")


def other_test_set(folders: dict[tuple[str, int], RunFolder]) -> None:
    folder = folders[ARMS[1], 22]
    environment = folder.environment
    folder.write_environment(environment | {"data": {"sha256": environment["data"]["sha256"] | {"test.en": "0" * 64}}})


def fewer_translations(folders: dict[tuple[str, int], RunFolder]) -> None:
    folders[ARMS[0], 22].write_lines("hypotheses/test.txt", ["one"])


def other_translations(folders: dict[tuple[str, int], RunFolder]) -> None:
    folders[ARMS[0], 22].write_lines("hypotheses/test.txt", ["one"] * 20)


def malformed(folders: dict[tuple[str, int], RunFolder]) -> None:
    folders[ARMS[0], 22].metrics.write_text("nonsense\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (one_seed, "warmup_low and no_warmup_low: seeds whose runs are over in both: 22; two are needed"),
        (none_over, r"no_warmup_low: no run is over in .* \(seeds: 21 failed, 22 failed\)"),
        (other_test_set, "were tested on different text"),
        (fewer_translations, r"test\.txt: has 1 of 20 translations"),
        (other_translations, r"its test gives BLEU 0\.0000, recorded is \d"),
        (malformed, r"metrics\.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_refused(overrides, folders, change, said):
    change(folders)
    with pytest.raises(UserError, match=said):
        read(overrides)


def test_an_unknown_arm_is_refused_with_a_near_one(overrides):
    with pytest.raises(UserError, match=r"^arm_a=warmup_lwo: recipe fig2a has none; did you mean warmup_low"):
        read(overrides, "warmup_lwo", "no_warmup_low")


def test_a_task_without_test_sentences_is_refused(overrides, folders, monkeypatch):
    monkeypatch.setattr(type(load_task("translation")), "sentence_statistics", lambda *_: None)
    with pytest.raises(UserError, match="its task translation keeps no statistics of test sentences"):
        read(overrides)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fig2z", *ARMS], "recipe=fig2z: no such recipe; did you mean fig2b"),
        (["fig2a", *ARMS, "--samples", "10"], "--samples=10: must be at least 100"),
        (["fig2a", *ARMS, "lr_max=1"], "lr_max=1: recipe fig2a sets lr_max itself"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, said):
    done = run_script("bootstrap", *arguments)
    assert said in error_of(done)
