"""Measure the training speed of sweep arrays against stock ``fairseq-train``, which trains one run after another.

``python -m lnexp.benchmarks.array_speed MEMBERS OVERRIDE …`` measures one size of array and prints JSON. Every size has
its own process, so that the peak memory is that of the size.
"""

import statistics
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from matplotlib.figure import Figure

from lnexp.benchmarks.alternation import ArrayRates
from lnexp.benchmarks.own_process import peak_memory, print_measured, run_in_own_process, whole_peak
from lnexp.benchmarks.page import plot_ratios, write_array_page
from lnexp.benchmarks.stock import SAME_BATCHES, TimedTrainer, device_name, engine_of, stock_config
from lnexp.benchmarks.stock_process import StockProcess
from lnexp.configuration import check_and_resolve, compose
from lnexp.figures.line_styles import BLUE
from lnexp.training.matrix_products import by_onednn

SIZES = (1, 2, 4, 8, 14)
ROUNDS = 5
UPDATES = 20  # a round
PLACEMENT = "post_ln"
#: The size of the square matrices whose product measures the speed of the machine, by device.
MATRIX_SIZE = {"cpu": 2048, "cuda": 4096}


@dataclass
class ArraySpeed(ArrayRates):
    """Member-updates per second of one size of array, and updates per second of stock fairseq.

    Attributes:
        memory: peak memory of the array, GiB: the GPU's, or the process' before stock fairseq was built.
        products: seconds that the matrix products of a member-update take at the machine's measured rate.
        tokens: target tokens per update.
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


def measure_all(overrides: list[str]) -> list[ArraySpeed]:
    """Measure every size of array, at the profile and corpus of the overrides."""
    return [ArraySpeed(**run_in_own_process(__name__, str(members), *overrides)) for members in SIZES]


def _measure(size: str, *overrides: str) -> ArraySpeed:
    members = int(size)
    rates = [f"lr_max={1e-3 * (1 + member / members)}" for member in range(members)]
    common = [f"model={PLACEMENT}", "lr_schedule.form=coupled", "tracker=none", *SAME_BATCHES, *overrides]
    cfgs = [check_and_resolve(compose([*common, rate])) for rate in rates]
    with whole_peak(), engine_of(*cfgs, in_array=True) as engine:
        array = TimedTrainer.of(engine)
        array.updates(UPDATES)  # warm up
        memory, device = peak_memory(array.trainer.cuda), device_name(array.trainer.cuda)
        device += ", oneDNN" if array.trainer.products is by_onednn else ""
        tokens = _tokens_an_update(array)
        with StockProcess(stock_config(cfgs[0], engine.corpus, PLACEMENT)) as stock:
            of_stock = partial(stock.ask, TimedTrainer.updates, UPDATES)
            of_stock()  # warm up
            rounds = [(members * array.updates(UPDATES), of_stock()) for _ in range(ROUNDS)]
            operations = stock.ask(TimedTrainer.operations, tokens)
    with array.trainer.products():
        operations_a_second = _operations_a_second(array.trainer.device, cfgs[0].precision)
    return ArraySpeed(
        members=members,
        ours=[ours for ours, _ in rounds],
        stock=[theirs for _, theirs in rounds],
        memory=memory,
        products=operations / operations_a_second,
        device=device,
        tokens=tokens,
    )


def _tokens_an_update(trainer: TimedTrainer) -> float:
    """Return the mean number of target tokens per update, including the ends of sentences."""
    batches = trainer.trainer.get_train_iterator(1, load_dataset=False)
    return float(trainer.task.dataset("train").tgt_sizes.sum()) / len(batches)


def _operations_a_second(device: torch.device, precision: str) -> float:
    """Return the floating-point operations per second of the product of two large matrices."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    size = MATRIX_SIZE[device.type]
    one, other = torch.randn(2, size, size, device=device).to(dtype)
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
    return 2 * size**3 / statistics.median(seconds)


def write(found: list[ArraySpeed], what: str, folder: Path) -> None:
    """Write ``arrays.md``, ``arrays.json`` and ``arrays.png``."""
    figure = Figure(figsize=(9, 3.4), dpi=150, layout="constrained")
    speed, memory = figure.subplots(1, 2)
    plot_ratios(speed, found, "member-updates")
    sizes = [one.members for one in found]
    memory.plot(sizes, [one.memory for one in found], "o-", color=BLUE)
    memory.set(xlabel="members", ylabel="peak memory, GiB", xticks=sizes, ylim=(0, None))
    title = f"Sweep arrays against stock fairseq: {what}, {found[0].tokens:.0f} target tokens an update"
    write_array_page(found, title, figure, folder, "arrays")


if __name__ == "__main__":
    print_measured(_measure)
