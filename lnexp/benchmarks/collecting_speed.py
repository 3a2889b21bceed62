"""Measure time and memory of collecting, verifying and reporting many finished runs."""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from lnexp.benchmarks.page import markdown
from lnexp.configuration import compose
from lnexp.paths import ROOT
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.results.verifying.stated_by_schedule import inverse_sqrt, warmed_up
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identities, readable_name

#: A recipe of many arms, all with the schedule of :func:`_rate`.
RECIPE, EPOCHS = "factorial", 50
RUNS = (100, 1_000, 5_000)
FIRST_SEED = 1
COLUMNS = ("runs", "collect, s", "its memory, MB", "verify, s", "report, s", "its memory, MB", "page, MB")
#: A program that runs a command, and prints the command's peak memory in MB behind its output.
PEAK = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); \
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"


def table() -> str:
    """Return a Markdown table with a row for each number of runs: seconds and peak memory of the commands."""
    rows = []
    for count in RUNS:
        with tempfile.TemporaryDirectory() as here:
            rows.append(_row(Path(here), count))
    return markdown(COLUMNS, rows)


def _row(here: Path, count: int) -> list[str]:
    seeds = -(-count // len(load_recipe(RECIPE).arms))
    overrides = [f"runs_dir={here / 'runs'}", f"first_seed={FIRST_SEED}", f"n_seeds={seeds}", f"max_epoch={EPOCHS}"]
    made = _write_runs(overrides, seeds)
    results = ["--results", str(here / "results")]
    collecting, peak = _timed("collect", f"+recipe={RECIPE}", *overrides, *results)
    verifying, _ = _timed("verify", *results)
    page = here / "report.html"
    reporting, most = _timed("report", str(here / "results"), "--runs", str(here / "runs"), "--output", str(page))
    collected = (f"{collecting:.1f}", str(peak), f"{verifying:.1f}")
    return [f"{made:,}", *collected, f"{reporting:.1f}", str(most), f"{page.stat().st_size / 1e6:.1f}"]


def _timed(script: str, *arguments: str) -> tuple[float, int]:
    """Run one of our commands, and return its seconds and its peak memory in MB."""
    command = [sys.executable, "-c", PEAK, sys.executable, str(ROOT / "scripts" / f"{script}.py"), *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, int(done.stdout.splitlines()[-1])


def _write_runs(overrides: list[str], seeds: int) -> int:
    """Write folders of finished runs for every arm and seed, and return their number."""
    recipe = load_recipe(RECIPE)
    choose = random.Random(0)
    for arm in recipe.arms.values():
        job = Job(recipe, "small", arm, FIRST_SEED)
        cfg = compose([*with_corpus(recipe, "small", overrides), *job.overrides])
        config = OmegaConf.to_yaml(cfg, resolve=True)
        names = range(FIRST_SEED, FIRST_SEED + seeds)
        for seed, run in zip(names, identities(cfg, names), strict=True):
            cfg.seed = seed
            folder = RunFolder(Path(cfg.runs_dir) / RECIPE / f"{readable_name(cfg)}-{run}")
            _write_run(folder, cfg, choose)
            (folder.path / "config.yaml").write_text(config)
    return len(recipe.arms) * seeds


def _write_run(folder: RunFolder, cfg: DictConfig, choose: random.Random) -> None:
    folder.path.mkdir(parents=True)
    signature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    records = [
        {
            "kind": "epoch", "epoch": epoch, "update": 60 * epoch, "valid_loss": 4 / epoch, "valid_nll": 3 / epoch,
            "valid_bleu": choose.uniform(0, 40), "bleu_signature": signature, "n_sentences": 200, "beam": 1,
            "train_loss": choose.random(), "lr": _rate(cfg, 60 * epoch), "grad_norm": choose.random(), "seconds": 5.0,
            "tokens_per_second": 7000.0, "time": "2026-01-01T00:00:00+00:00",
        }
        for epoch in range(1, EPOCHS + 1)
    ]  # fmt: skip
    records.append({"kind": "end", "test_bleu": 20.0, "test_bleu_tokenised": 21.0, "bleu_signature": signature})
    folder.metrics.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    folder.write_environment(
        {"git": {"commit": "0" * 40, "dirty": False}, "cpu": "none", "device": "cpu", "data": {"pairs": {"train": 1}}}
    )
    folder.set_status("finished", updates=60 * EPOCHS)


def _rate(cfg: DictConfig, update: int) -> float:
    """Return the learning rate of the recipe's schedule, which ``verify`` computes again."""
    return float(cfg.lr_max) * warmed_up(update, cfg.warmup_updates) * inverse_sqrt(update, cfg.lr_schedule.decay_from)
