"""Updates a second of a run of ours against stock ``fairseq-train``: same model, data and batches, in turn."""

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, compose
from lnexp.corpora.prepare import PreparedCorpus, prepare
from lnexp.runs.folder import RunFolder

ROUNDS = 7
#: Our placement and what stock fairseq calls it.
PLACEMENTS = {"post_ln": [], "pre_ln": ["--encoder-normalize-before", "--decoder-normalize-before"]}


class Speeds(NamedTuple):
    """Updates a second, a value a round; the rounds of both sides alternate."""

    ours: list[float]
    stock: list[float]

    @property
    def ratio(self) -> float:
        """Median of the ratios of neighbouring rounds; above 1 we are faster."""
        return statistics.median(ours / stock for ours, stock in zip(self.ours, self.stock, strict=True))


def compare(overrides: list[str]) -> dict[str, Speeds]:
    """Time every placement at the profile and corpus of the overrides, training alone: no validation, no checkpoint."""
    quiet = ["fairseq.dataset.disable_validation=true", "fairseq.checkpoint.no_save=true"]
    quiet += ["fairseq.task.rebuild_batches=false"]  # as stock fairseq, which must have the same batches
    configs = {name: compose([f"model={name}", "tracker=none", *quiet, *overrides]) for name in PLACEMENTS}
    corpora = {}
    for name, cfg in configs.items():
        check(cfg)
        OmegaConf.resolve(cfg)
        corpora[name] = prepare(cfg.data, cfg.data_dir)
    # all of stock's before any of ours: our engine takes fairseq's schemas out of Hydra's store
    stock = {name: _stock_config(cfg, corpora[name], name) for name, cfg in configs.items()}
    return {name: _measure(cfg, corpora[name], stock[name]) for name, cfg in configs.items()}


def _measure(cfg: DictConfig, corpus: PreparedCorpus, stock_cfg: DictConfig) -> Speeds:
    from lnexp.training.engine import Engine

    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "bench-00000000")
        run.checkpoints.mkdir(parents=True)
        engine = Engine(cfg, run, corpus, show_progress=False)
        ours = _Side(engine.trainer, engine.task, engine.fairseq)
        stock = _stock_side(stock_cfg)
        for side in (ours, stock):
            side.epoch()  # warm up
        rounds = [(ours.epoch(), stock.epoch()) for _ in range(ROUNDS)]
    return Speeds([mine for mine, _ in rounds], [theirs for _, theirs in rounds])


class _Side:
    """One trainer, timed epoch by epoch."""

    def __init__(self, trainer: Any, task: Any, cfg: DictConfig):
        self.trainer, self.task, self.cfg = trainer, task, cfg
        self.next_epoch = 1

    def epoch(self) -> float:
        """Train an epoch and return its updates a second."""
        import fairseq_cli.train as fairseq_train

        iterator = self.trainer.get_train_iterator(self.next_epoch, load_dataset=self.next_epoch == 1)
        self.next_epoch += 1
        before, start = self.trainer.get_num_updates(), time.perf_counter()
        fairseq_train.train(self.cfg, self.trainer, self.task, iterator)
        return (self.trainer.get_num_updates() - before) / (time.perf_counter() - start)


def _stock_config(cfg: DictConfig, corpus: PreparedCorpus, placement: str) -> DictConfig:
    """What ``fairseq-train`` would make of the same settings on its command line."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from hydra.version import setbase

    setbase("1.1")  # fairseq composes with an interface that newer defaults refuse
    model = cfg.model
    words = [str(corpus.bin), "--arch", "transformer", *PLACEMENTS[placement], "--task", "translation"]
    for side in ("encoder", "decoder"):
        for option in ("embed_dim", "ffn_embed_dim", "layers", "attention_heads"):
            words += [f"--{side}-{option.replace('_', '-')}", str(model[f"{side}_{option}"])]
    words += ["--dropout", str(model.dropout), "--share-decoder-input-output-embed"]
    words += ["--criterion", "label_smoothed_cross_entropy", "--label-smoothing", str(cfg.label_smoothing)]
    words += ["--optimizer", "adam", "--adam-betas", str(tuple(cfg.optimizer.betas)), "--clip-norm", str(cfg.clip_norm)]
    words += ["--lr", str(cfg.lr_max), "--lr-scheduler", "inverse_sqrt", "--warmup-updates", str(cfg.warmup_updates)]
    words += ["--max-tokens", str(cfg.max_tokens), "--required-batch-size-multiple", "1", "--seed", str(cfg.seed)]
    words += ["--disable-validation", "--no-save", "--log-format", "simple", "--num-workers", "0"]
    words += ["--update-freq", str(cfg.update_freq), *([] if cfg.precision == "fp32" else [f"--{cfg.precision}"])]
    words += ["--cpu"] if cfg.device == "cpu" else []
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))


def _stock_side(cfg: DictConfig) -> _Side:
    from fairseq import tasks, utils
    from fairseq.trainer import Trainer

    utils.set_torch_seed(cfg.common.seed)
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model)
    return _Side(Trainer(cfg, task, model, task.build_criterion(cfg.criterion)), task, cfg)


def table(overrides: list[str]) -> str:
    """Medians of both sides and their ratio, as a Markdown table."""
    rows = ["| model | lnexp | fairseq-train | ratio | cores |", "|---|---|---|---|---|"]
    for name, speeds in compare(overrides).items():
        ours, stock = statistics.median(speeds.ours), statistics.median(speeds.stock)
        rows.append(f"| {name} | {ours:.2f} | {stock:.2f} | {speeds.ratio:.3f} | {os.cpu_count()} |")
    return "\n".join(rows)
