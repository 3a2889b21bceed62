"""Member-updates a second of sweep arrays against stock ``fairseq-train``, one run after another.

``python -m lnexp.benchmarks.array_speed MEMBERS OVERRIDE …`` measures one size and prints it as JSON: each size has a
process of its own, whose memory is then that size's.
"""

import json
import logging
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from lnexp.benchmarks.alternation import ArrayRounds
from lnexp.benchmarks.own_process import ask, peak_memory
from lnexp.benchmarks.page import plot_ratios, write_rounds
from lnexp.benchmarks.stock import SAME_BATCHES, Side, device_name, stock_config, stock_side
from lnexp.configuration import check, compose
from lnexp.corpora.prepare import PreparedCorpus, prepare
from lnexp.figures.line_styles import COLOURS
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member

SIZES = (1, 2, 4, 8, 14)
ROUNDS = 5
UPDATES = 20  # a round
PLACEMENT = "post_ln"
SIDE = 4096  # of the square matrices whose product tells how fast the machine multiplies


@dataclass
class Measured(ArrayRounds):
    """Member-updates a second of one size of array.

    Attributes:
        memory: the most that was in use, GiB: the GPU's, or all that the process had before stock fairseq came in.
        products: seconds that a member-update's bare matrix products take at the machine's measured rate.
        tokens: target tokens an update.
    """

    memory: float
    products: float
    tokens: float

    def cells(self) -> dict[str, str]:
        ours, stock = self.medians
        return {
            "members": str(self.members),
            "member-updates/s": f"{ours:.2f}",
            "stock updates/s": f"{stock:.2f}",
            "ratio": f"{self.ratio:.2f}",
            "times its bare matrix products": f"{1 / ours / self.products:.1f}",
            "peak memory, GiB": f"{self.memory:.2f}",
        }


def measure_all(overrides: list[str]) -> list[Measured]:
    """Every size, at the profile and corpus of the overrides."""
    return [Measured(**ask(__name__, str(members), *overrides)) for members in SIZES]


def _measure(members: int, overrides: list[str]) -> Measured:
    rates = [f"lr_max={1e-3 * (1 + member / members)}" for member in range(members)]
    common = [f"model={PLACEMENT}", "lr_schedule.form=coupled", "tracker=none", *SAME_BATCHES, *overrides]
    cfgs = [compose([*common, rate]) for rate in rates]
    for cfg in cfgs:
        check(cfg)
        OmegaConf.resolve(cfg)
    corpus = prepare(cfgs[0].data, cfgs[0].data_dir)
    stock_cfg = stock_config(cfgs[0], corpus, PLACEMENT)
    # fairseq's trainer would forget the peak after every update
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(torch.cuda, "reset_peak_memory_stats"):
        array = _array_side(cfgs, corpus, Path(folder))
        array.updates(UPDATES)  # warm up
        memory, device = peak_memory(array.trainer.cuda), device_name(array.trainer.cuda)
        stock = stock_side(stock_cfg)
        stock.updates(UPDATES)
        rounds = [(members * array.updates(UPDATES), stock.updates(UPDATES)) for _ in range(ROUNDS)]
    tokens = _tokens_an_update(array)
    operations_a_second = _operations_a_second(array.trainer.device, cfgs[0].precision)
    return Measured(
        members=members,
        ours=[ours for ours, _ in rounds],
        stock=[theirs for _, theirs in rounds],
        memory=memory,
        products=_operations(stock.trainer.model, tokens) / operations_a_second,
        device=device,
        tokens=tokens,
    )


def _array_side(cfgs: list[DictConfig], corpus: PreparedCorpus, folder: Path) -> Side:
    from lnexp.training.engine import Engine
    from lnexp.training.models.array import ArrayModels

    folders = [RunFolder(folder / f"bench-{number:08}") for number in range(len(cfgs))]
    for run in folders:
        run.checkpoints.mkdir(parents=True)
    engine = Engine(list(map(Member, cfgs, folders)), corpus, ArrayModels)
    return Side(engine.trainer, engine.task, engine.fairseq)


def _tokens_an_update(side: Side) -> float:
    """Target tokens, the end of each sentence included."""
    batches = side.trainer.get_train_iterator(1, load_dataset=False)
    return float(side.task.dataset("train").tgt_sizes.sum()) / len(batches)


def _operations(model: Any, tokens: float) -> float:
    """Of the products with weight matrices in an update: two a weight and token forward, twice that backward.

    Those within attention, and looking up embeddings, are left out.
    """
    weights = sum(
        parameter.numel()
        for name, parameter in model.named_parameters(remove_duplicate=False)
        if parameter.dim() == 2 and "embed_tokens" not in name
    )
    return 6 * weights * tokens


def _operations_a_second(device: torch.device, precision: str) -> float:
    """What the machine reaches in a product of two large matrices."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    one, other = torch.randn(2, SIDE, SIDE, device=device).to(dtype)
    product = one @ other
    count = 1 if device.type == "cpu" else 100
    seconds = []
    for _ in range(ROUNDS):
        float(product[0, 0])  # waits for the GPU
        start = time.perf_counter()
        for _ in range(count):
            product = one @ other
        float(product[0, 0])
        seconds.append((time.perf_counter() - start) / count)
    return 2 * SIDE**3 / statistics.median(seconds)


def write(found: list[Measured], what: str, folder: Path) -> None:
    """Write ``arrays.md``, ``arrays.json`` and ``arrays.png``."""
    figure = Figure(figsize=(9, 3.4), dpi=150, layout="constrained")
    speed, memory = figure.subplots(1, 2)
    plot_ratios(speed, found, "member-updates")
    sizes = [one.members for one in found]
    memory.plot(sizes, [one.memory for one in found], "o-", color=COLOURS[0])
    memory.set(xlabel="members", ylabel="peak memory, GiB", xticks=sizes, ylim=(0, None))
    title = f"Sweep arrays against stock fairseq: {what}, {found[0].tokens:.0f} target tokens an update"
    write_rounds(found, title, figure, folder, "arrays")


if __name__ == "__main__":
    logging.captureWarnings(True)
    logging.disable(logging.WARNING)
    print(json.dumps(asdict(_measure(int(sys.argv[1]), sys.argv[2:]))))
