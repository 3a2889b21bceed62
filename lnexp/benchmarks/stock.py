"""Build a trainer of ours, and stock fairseq's with the same model, data, batches and settings, to compare them."""

import itertools
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus, prepare
from lnexp.plugin.far_apart import far_apart
from lnexp.runs.environment import cpu_name
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member

if TYPE_CHECKING:
    from lnexp.training.engine import Engine

#: Our placements, with stock fairseq's options for each.
PLACEMENTS = {"post_ln": [], "pre_ln": ["--encoder-normalize-before", "--decoder-normalize-before"]}
#: Makes our trainer use the batches of stock fairseq.
SAME_BATCHES = ("fairseq.task.rebuild_batches=false",)
#: Makes our trainer train and do nothing else, with the batches of stock fairseq.
TRAINING_ALONE = (
    "tracker=none",
    "fairseq.dataset.disable_validation=true",
    *SAME_BATCHES,
)


class TimedTrainer:
    """A trainer, with methods that train and return the speed."""

    def __init__(self, trainer: Any, task: Any, cfg: DictConfig):
        self.trainer, self.task, self.cfg = trainer, task, cfg
        self.next_epoch = 1

    @classmethod
    def of(cls, engine: "Engine") -> "TimedTrainer":
        """Return the trainer of an engine."""
        return cls(engine.trainer, engine.task, engine.fairseq)

    def epoch(self) -> float:
        """Train an epoch, and return the updates per second."""
        import fairseq_cli.train as fairseq_train

        iterator = self.trainer.get_train_iterator(self.next_epoch, load_dataset=self.next_epoch == 1)
        self.next_epoch += 1
        before, start = self.trainer.get_num_updates(), time.perf_counter()
        fairseq_train.train(self.cfg, self.trainer, self.task, iterator)
        return (self.trainer.get_num_updates() - before) / (time.perf_counter() - start)

    def updates(self, count: int) -> float:
        """Train on the first ``count`` batches of the next epoch, and return the updates per second."""
        epoch = self.trainer.get_train_iterator(self.next_epoch, load_dataset=self.next_epoch == 1)
        batches = epoch.next_epoch_itr(shuffle=True)
        self.next_epoch += 1
        samples = list(itertools.islice(batches, count))
        start = time.perf_counter()
        for sample in samples:
            self.trainer.train_step([sample])
        return len(samples) / (time.perf_counter() - start)

    def operations(self, tokens: float) -> float:
        """Return the floating-point operations of an update's products with weight matrices: 6 per weight and token.

        Two are in the forward pass, four in the backward pass. Products within attention and embeddings are left out.
        """
        weights = sum(
            parameter.numel()
            for name, parameter in self.trainer.model.named_parameters(remove_duplicate=False)
            if parameter.dim() == 2 and "embed_tokens" not in name
        )
        return 6 * weights * tokens


@contextmanager
def engine_of(*cfgs: DictConfig, in_array: bool = False) -> Iterator["Engine"]:
    """Open an engine for one run, or for the runs of an array, in a temporary folder; the configs are resolved.

    It saves no checkpoints.
    """
    from lnexp.training.engine import Engine
    from lnexp.training.models.array import ArrayModels
    from lnexp.training.models.single import SingleModel

    corpus = prepare(cfgs[0].data, cfgs[0].data_dir)
    with tempfile.TemporaryDirectory() as here:
        folders = [RunFolder(Path(here) / f"bench-{number:08}") for number in range(len(cfgs))]
        for folder in folders:
            folder.checkpoints.mkdir(parents=True)
        engine = Engine(list(map(Member, cfgs, folders)), corpus, ArrayModels if in_array else SingleModel)
        engine.fairseq.checkpoint.no_save = True
        yield engine


def device_name(cuda: bool) -> str:
    """Return the name of the GPU, or of the CPU with the number of threads."""
    return torch.cuda.get_device_name() if cuda else f"{cpu_name()}, {torch.get_num_threads()} thread"


def stock_config(cfg: DictConfig, corpus: PreparedCorpus, placement: str) -> DictConfig:
    """Return the config that ``fairseq-train`` has with the same settings on its command line."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from hydra.version import setbase

    setbase("1.1")  # fairseq composes configs with an interface that Hydra's newer default refuses
    model = cfg.model
    words = [str(corpus.bin), "--arch", "transformer", *PLACEMENTS[placement], "--task", "translation"]
    for side in ("encoder", "decoder"):
        for option in ("embed_dim", "ffn_embed_dim", "layers", "attention_heads"):
            words += [f"--{side}-{option.replace('_', '-')}", str(model[f"{side}_{option}"])]
    words += ["--dropout", str(model.dropout), "--share-decoder-input-output-embed"]
    words += ["--criterion", "label_smoothed_cross_entropy", "--label-smoothing", str(cfg.label_smoothing)]
    words += ["--optimizer", "adam", "--adam-betas", str(tuple(cfg.optimizer.betas)), "--clip-norm", str(cfg.clip_norm)]
    words += ["--lr", str(cfg.lr_max), "--lr-scheduler", "inverse_sqrt", "--warmup-updates", str(cfg.warmup_updates)]
    words += ["--max-tokens", str(cfg.max_tokens), "--required-batch-size-multiple", "1"]
    words += ["--seed", str(far_apart(cfg.order_seed))]  # which orders the batches as ours
    words += ["--disable-validation", "--no-save", "--log-format", "simple", "--num-workers", "0"]
    words += ["--update-freq", str(cfg.update_freq), *([] if cfg.precision == "fp32" else [f"--{cfg.precision}"])]
    words += ["--cpu"] if cfg.device == "cpu" else []
    found = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    found.common.tpu = False  # which fairseq's parser takes --bf16 to ask for; its trainer has bf16 on every device
    return found


def stock_trainer(cfg: DictConfig) -> TimedTrainer:
    """Return stock fairseq's trainer for a config of :func:`stock_config`."""
    from fairseq import tasks, utils
    from fairseq.trainer import Trainer

    utils.set_torch_seed(cfg.common.seed)
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model)
    return TimedTrainer(Trainer(cfg, task, model, task.build_criterion(cfg.criterion)), task, cfg)
