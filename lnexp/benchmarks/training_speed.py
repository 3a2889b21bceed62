"""Measure the training speed of our runs against stock ``fairseq-train`` with the same model, data and batches."""

import os

from omegaconf import DictConfig

from lnexp.benchmarks.alternation import AlternatingRates
from lnexp.benchmarks.page import markdown
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE, TimedTrainer, engine_of, stock_config
from lnexp.benchmarks.stock_process import StockProcess
from lnexp.configuration import check_and_resolve, compose

ROUNDS = 7


def compare(overrides: list[str]) -> dict[str, AlternatingRates]:
    """Time every placement at the profile and corpus of the overrides, without validation and checkpoints."""
    settings = {name: [f"model={name}", *TRAINING_ALONE, *overrides] for name in PLACEMENTS}
    configs = {name: check_and_resolve(compose(words)) for name, words in settings.items()}
    return {name: _measure(cfg, name) for name, cfg in configs.items()}


def _measure(cfg: DictConfig, placement: str) -> AlternatingRates:
    with engine_of(cfg) as engine, StockProcess(stock_config(cfg, engine.corpus, placement)) as stock:
        ours = TimedTrainer.of(engine)
        _, *rounds = [(ours.epoch(), stock.ask(TimedTrainer.epoch)) for _ in range(1 + ROUNDS)]  # the first warms up
    return AlternatingRates([mine for mine, _ in rounds], [theirs for _, theirs in rounds])


def table(overrides: list[str]) -> str:
    """Return the medians of both trainers and their ratio, as a Markdown table."""
    rows = []
    for name, rounds in compare(overrides).items():
        ours, stock = rounds.medians
        rows.append([name, f"{ours:.2f}", f"{stock:.2f}", f"{rounds.ratio:.3f}", str(os.cpu_count())])
    return markdown(("model", "lnexp", "fairseq-train", "ratio", "cores"), rows)
