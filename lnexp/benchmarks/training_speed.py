"""Measure the training speed of our runs against stock ``fairseq-train`` with the same model, data and batches."""

import os
import tempfile
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from lnexp.benchmarks.alternation import AlternatingRates
from lnexp.benchmarks.page import markdown
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE, TimedTrainer, stock_config, stock_trainer
from lnexp.configuration import check, compose
from lnexp.corpora.prepare import PreparedCorpus, prepare
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member

ROUNDS = 7


def compare(overrides: list[str]) -> dict[str, AlternatingRates]:
    """Time every placement at the profile and corpus of the overrides, without validation and checkpoints."""
    configs = {name: compose([f"model={name}", *TRAINING_ALONE, *overrides]) for name in PLACEMENTS}
    corpora = {}
    for name, cfg in configs.items():
        check(cfg)
        OmegaConf.resolve(cfg)
        corpora[name] = prepare(cfg.data, cfg.data_dir)
    stock = {name: stock_config(cfg, corpora[name], name) for name, cfg in configs.items()}
    return {name: _measure(cfg, corpora[name], stock[name]) for name, cfg in configs.items()}


def _measure(cfg: DictConfig, corpus: PreparedCorpus, stock_cfg: DictConfig) -> AlternatingRates:
    from lnexp.training.engine import Engine

    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "bench-00000000")
        run.checkpoints.mkdir(parents=True)
        engine = Engine([Member(cfg, run)], corpus)
        ours = TimedTrainer(engine.trainer, engine.task, engine.fairseq)
        stock = stock_trainer(stock_cfg)
        for trainer in (ours, stock):
            trainer.epoch()  # warm up
        rounds = [(ours.epoch(), stock.epoch()) for _ in range(ROUNDS)]
    return AlternatingRates([mine for mine, _ in rounds], [theirs for _, theirs in rounds])


def table(overrides: list[str]) -> str:
    """Return the medians of both trainers and their ratio, as a Markdown table."""
    rows = []
    for name, rounds in compare(overrides).items():
        ours, stock = rounds.medians
        rows.append([name, f"{ours:.2f}", f"{stock:.2f}", f"{rounds.ratio:.3f}", str(os.cpu_count())])
    return markdown(("model", "lnexp", "fairseq-train", "ratio", "cores"), rows)
