"""A recipe with a sweep over rates and lengths of warm-up, and runs of it that never ran."""

from pathlib import Path

import yaml
from omegaconf import OmegaConf

from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.run_result import RunResult

#: Of its arms, by their name.
RATES = {"x1": "1e-3", "x2": "2e-3", "x4": "4e-3"}
SEEDS = (31, 32, 33)

CONTENT = {
    "title": "a sweep",
    "figure": "beyond the paper",
    "source": "somewhere",
    "reading": "decoupled",
    "settings": ["optimizer=adam"],
    "profiles": {"small": {"data": "toy"}},
    "first_seed": SEEDS[0],
    "n_seeds": len(SEEDS),
    "axes": {
        "placement": {
            "pre_ln": {"label": "Pre-LN", "overrides": ["model=pre_ln"]},
            "post_ln": {"label": "Post-LN", "overrides": ["model=post_ln"]},
        },
        "warmup": {
            "none": {"label": "w/o warm-up", "overrides": ["warmup_updates=1"]},
            "short": {"label": "short warm-up", "overrides": ["warmup_updates=60"]},
            "long": {"label": "long warm-up", "overrides": ["warmup_updates=300"]},
        },
        "lr_max": {name: {"label": f"lr_max {rate}", "overrides": [f"lr_max={rate}"]} for name, rate in RATES.items()},
    },
    "rows": ["placement", "warmup"],
    "outcomes": {"rows": "placement", "columns": "lr_max", "over": "warmup"},
    "sweep": {"initial_nll": 5.0, "within": 0.1, "good": 0.05, "other_rate": ["post_ln"]},
}
#: Final nlls of its arms, by their set without the rate and in the order of rates; None: it diverged.
NLLS: dict[str, list[float | None]] = {
    "pre_ln_none": [0.5, 0.2, 0.3],
    "pre_ln_short": [0.5, 0.2, 0.3],
    "pre_ln_long": [0.42, 0.22, 0.2],
    "post_ln_none": [1.0, 4.0, None],
    "post_ln_short": [0.6, 0.3, 4.5],
    "post_ln_long": [0.52, 0.25, 0.4],
}


def swept_recipe(folder: Path, *tests: str) -> Recipe:
    """Write the recipe into a folder, with a claim for each test, and return it."""
    claims = [
        {
            "id": f"claim-{number}",
            "source": "somewhere",
            "paper": {},
            "scope": "relative",
            "holds_if": test,
            "why": "because",
            "registered": "before",
            "since": "1234abc",
        }
        for number, test in enumerate(tests)
    ]
    path = folder / "swept.yaml"
    path.write_text(yaml.safe_dump(CONTENT | {"claims": claims}, sort_keys=False))
    return load_recipe(str(path))


def swept_runs(recipe: Recipe, **changed: list[float | None]) -> list[RunResult]:
    """Return its runs: those of :data:`NLLS` with what is changed, a hundredth more each seed."""
    return [
        _run(recipe, f"{name}_{rate}", seed, None if nll is None else nll + 0.01 * (seed - SEEDS[0]))
        for name, nlls in (NLLS | changed).items()
        for rate, nll in zip(RATES, nlls, strict=True)
        for seed in SEEDS
    ]


def _run(recipe: Recipe, arm: str, seed: int, nll: float | None) -> RunResult:
    options = dict(override.split("=") for override in recipe.arms[arm].overrides)
    cfg = OmegaConf.create(
        {
            "profile": "small",
            "threads": 1,
            "seed": seed,
            "order_seed": seed,
            "data_dir": "nowhere",
            "precision": "fp32",
            "data": {"name": "toy", "source_lang": "de", "target_lang": "en", "joined_dictionary": False},
            "max_epoch": 2,
            "lr_max": float(options["lr_max"]),
            "warmup_updates": int(options["warmup_updates"]),
            "model": {"_name": f"lnexp_{options['model']}"},
            "optimizer": {"_name": "lnexp_adam"},
            "lr_schedule": {"_name": "lnexp_inverse_sqrt", "form": "decoupled"},
            "evaluation": {"valid_sentences": 0, "valid_beam": 1, "average_last": 0},
        }
    )
    epochs = [
        {"kind": "epoch", "epoch": epoch, "update": 60 * epoch, "valid_loss": value, "valid_nll": value, "lr": 0.001,
         "valid_bleu": 100 / (1 + value), "seconds": 1.0}
        for epoch, value in enumerate((4.5, 4.9 if nll is None else nll), start=1)
    ]  # fmt: skip
    bleu = epochs[-1]["valid_bleu"]
    return RunResult(
        Job(recipe, "small", recipe.arms[arm], seed),
        cfg,
        f"{arm}{seed}",
        "diverged" if nll is None else "finished",
        epochs=epochs,
        end={"kind": "end", "test_bleu": bleu, "bleu_signature": "sig"},
        environment={
            "cpu": "a processor",
            "device": "cpu",
            "numerics": 2,
            "data": {"pairs": {"train": 3000}, "sha256": {}},
        },
    )
