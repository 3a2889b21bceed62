"""Runs that never ran, for judging what judges."""

from dataclasses import replace

import pytest
from helpers import RATES, swept_recipe
from omegaconf import DictConfig, OmegaConf

from lnexp.recipes.recipe import Arm, Claim, Job, Recipe, Scope, Setting
from lnexp.results.collect import RunResult


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


#: Final nlls of the arms of a swept recipe, by their set without the rate and in the order of rates; None: it diverged.
NLLS: dict[str, list[float | None]] = {
    "pre_ln_none": [0.5, 0.2, 0.3],
    "pre_ln_short": [0.5, 0.2, 0.3],
    "pre_ln_long": [0.42, 0.22, 0.2],
    "post_ln_none": [1.0, 4.0, None],
    "post_ln_short": [0.6, 0.3, 4.5],
    "post_ln_long": [0.52, 0.25, 0.4],
}
SEEDS = (31, 32, 33)


class MakeSweep:
    """Makes runs of a swept recipe, which has a claim if told one."""

    def __call__(self, holds_if: str = "", **changed: list[float | None]) -> tuple[Recipe, list[RunResult]]:
        """Return the recipe and its runs: those of :data:`NLLS` with what is changed, a hundredth more each seed."""
        make = MakeRun()
        claim = [replace(make.claim(holds_if), paper={})] if holds_if else []
        make.recipe = replace(swept_recipe(), claims=tuple(claim))
        runs = []
        for name, nlls in (NLLS | changed).items():
            for rate, nll in zip(RATES, nlls, strict=True):
                runs += [self._run(make, f"{name}_{rate}", seed, nll) for seed in SEEDS]
        return make.recipe, runs

    @staticmethod
    def _run(make: MakeRun, arm: str, seed: int, nll: float | None) -> RunResult:
        run = make(arm, seed, [1.0, 2.0], "finished" if nll is not None else "diverged")
        cfg = OmegaConf.merge(run.cfg, OmegaConf.from_dotlist(list(make.recipe.arms[arm].overrides[1:])))
        assert isinstance(cfg, DictConfig)
        run.epochs[-1]["valid_nll"] = None if nll is None else nll + 0.01 * (seed - SEEDS[0])
        return replace(run, cfg=cfg)


@pytest.fixture
def make_sweep() -> MakeSweep:
    return MakeSweep()
