"""Runs that never ran, for judging what judges."""

from dataclasses import replace

import pytest
from omegaconf import OmegaConf

from lnexp.recipes.claim import Claim, Scope
from lnexp.recipes.jobs import Job
from lnexp.recipes.recipe import Arm, Recipe, Setting
from lnexp.results.evidence.run_result import RunResult


class MakeRun:
    """Makes results of runs of one small recipe with the arms ``good`` and ``bad``."""

    def __init__(self) -> None:
        arms = {name: Arm(name, name.capitalize(), ()) for name in ("good", "bad")}
        claim = self.claim("best_bleu(bad) < 0.5 * best_bleu(good)")
        self.recipe = Recipe(
            name="figx",
            title="A title",
            figure="Fig. X",
            source="somewhere",
            reading="decoupled",
            settings=(),
            profiles={"small": Setting("toy", ()), "paper": Setting("iwslt14", ())},
            first_seed=11,
            n_seeds=3,
            arms=arms,
            claims=(claim,),
        )
        self.cfg = OmegaConf.create(
            {
                "profile": "small",
                "precision": "fp32",
                "threads": 1,
                "data": {"name": "toy", "source_lang": "de", "target_lang": "en", "joined_dictionary": False},
                "data_dir": "nowhere",
                "seed": 1,
                "order_seed": 1,
                "max_epoch": 5,
                "lr_max": 0.001,
                "warmup_updates": 1,
                "model": {"_name": "lnexp_post_ln"},
                "optimizer": {"_name": "lnexp_adam"},
                "lr_schedule": {"_name": "lnexp_inverse_sqrt", "form": "decoupled"},
                "evaluation": {"valid_sentences": 0, "valid_beam": 1, "average_last": 0},
            }
        )

    @staticmethod
    def claim(holds_if: str, scope: Scope = "relative") -> Claim:
        return Claim("x", "the paper's words", {"good": 34}, scope, holds_if, "because", "before", "1234abc")

    def __call__(self, arm: str, seed: int, bleu: list[float | None], state: str = "finished") -> RunResult:
        epochs = [
            {
                "kind": "epoch",
                "epoch": number,
                "update": 10 * number,
                "valid_loss": 2.0,
                "valid_nll": 1.0,
                "valid_bleu": value,
                "lr": 0.001,
                "seconds": 1.0,
            }
            for number, value in enumerate(bleu, start=1)
        ]
        end = {"kind": "end", "test_bleu": bleu[-1] if bleu else None, "bleu_signature": "sig"}
        environment = {"cpu": "a processor", "device": "cpu", "data": {"pairs": {"train": 3000}, "sha256": {}}}
        job = Job(self.recipe, "small", self.recipe.arms[arm], seed)
        return RunResult(job, self.cfg, f"{arm}{seed}", state, epochs=epochs, end=end, environment=environment)

    def missing(self, arm: str, seed: int) -> RunResult:
        return RunResult(Job(self.recipe, "small", self.recipe.arms[arm], seed), self.cfg, f"{arm}{seed}", "not run")


@pytest.fixture(scope="session")
def make_runs() -> type[MakeRun]:
    """The class of ``make_run``, for fixtures that outlive a test."""
    return MakeRun


@pytest.fixture
def make_run() -> MakeRun:
    return MakeRun()


@pytest.fixture
def runs_of(make_run):
    """Makes runs of a recipe of placements, depths and warm-ups from best BLEUs by arm; None for a diverged one."""

    def arm(placement, depth, warmup):
        name = f"{placement}_{depth}_{warmup}"
        return name, Arm(name, name, (), values={"placement": placement, "depth": depth, "warmup": warmup})

    values = [
        (p, d, w)
        for w in ("w/o warm-up", "short", "with warm-up")
        for d in ("6-6", "18-18")
        for p in ("Post-LN", "Pre-LN")
    ]
    outcomes = {"rows": "placement", "columns": "depth", "over": "warmup"}
    make_run.recipe = replace(make_run.recipe, arms=dict(arm(*each) for each in values), outcomes=outcomes)

    def make(bleus):
        runs = [
            make_run("_".join(arm), 11 + number, [bleu], "finished")
            if bleu is not None
            else make_run("_".join(arm), 11 + number, [], "diverged")
            for arm, by_seed in bleus.items()
            for number, bleu in enumerate(by_seed)
        ]
        return make_run.recipe, runs

    return make
