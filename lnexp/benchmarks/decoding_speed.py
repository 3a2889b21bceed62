"""Measure the translation speed of sweep arrays against fairseq's beam search with stock models, at equal BLEU."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from lnexp.benchmarks.alternation import ArrayRates
from lnexp.benchmarks.own_process import print_measured, run_in_own_process
from lnexp.benchmarks.page import plot_ratios, write_array_page
from lnexp.benchmarks.stock import device_name, engine_of, stock_config, stock_trainer
from lnexp.configuration import check_and_resolve, compose

SIZES = (1, 4, 8)
ROUNDS = 3
EPOCHS = 3  # of training before: an untrained model decodes up to the length limit
PLACEMENT = "pre_ln"


@dataclass
class DecodingSpeed(ArrayRates):
    """Sentences per second that one size of array translates, and that fairseq translates with one stock model.

    Attributes:
        bleu: tokenised test BLEU of the first member.
        stock_bleu: tokenised test BLEU of the stock model, which has the first member's weights.
        sentences: number of sentences.
        beam: beam size.
    """

    bleu: float
    stock_bleu: float
    sentences: int
    beam: int

    def cells(self) -> dict[str, str]:
        ours, stock = self.medians
        return {
            "members": str(self.members),
            "sentences": f"{self.sentences:,}",
            "beam": str(self.beam),
            "array, sentences/s": f"{ours:.1f}",
            "fairseq, sentences/s": f"{stock:.1f}",
            "ratio": f"{self.ratio:.2f}",
            "BLEU": f"{self.bleu:.2f}",
            "fairseq's BLEU": f"{self.stock_bleu:.2f}",
        }


def measure_all(overrides: list[str], sizes: Sequence[int] = SIZES) -> list[DecodingSpeed]:
    """Measure every size on the test set, at the profile and corpus of the overrides, in one other process."""
    found = run_in_own_process(__name__, ",".join(map(str, sizes)), *overrides)
    return [DecodingSpeed(**one) for one in found]


def _measure_sizes(words: str, *overrides: str) -> list[DecodingSpeed]:
    """Measure the sizes of ``words``, as ``1,4,8``."""
    sizes = [int(word) for word in words.split(",")]
    most = max(sizes)
    common = [f"model={PLACEMENT}", "tracker=none", "lr_schedule=constant", "warmup_updates=1", f"max_epoch={EPOCHS}"]
    seeds = range(1, most + 1)
    cfgs = [check_and_resolve(compose([*common, *overrides, f"seed={seed}", "order_seed=1"])) for seed in seeds]
    from lnexp.training.models.array_checkpoints import load_member_model, member_model

    with engine_of(*cfgs, in_array=True) as trained:
        trained.train()
    models = [member_model(trained.model, member) for member in range(most)]
    stock = stock_trainer(stock_config(cfgs[0], trained.corpus, PLACEMENT)).trainer.model
    stock.load_state_dict(models[0])
    found = []
    for size in sizes:
        with engine_of(*cfgs[:size], in_array=True) as array:
            for member in range(size):
                load_member_model(array.model, member, models[member])
            found.append(_measure(array, stock))
    return found


def _measure(array, stock) -> DecodingSpeed:
    from lnexp.tasks.translation.array_decoding import translate_array
    from lnexp.tasks.translation.bleu import tokenised_bleu
    from lnexp.tasks.translation.decoding import FirstSentences, translate

    sentences = FirstSentences(array.task.dataset("test"), 0)
    evaluation, members = array.cfg.evaluation, range(array.model.members)
    settings = (sentences, evaluation, evaluation.test_beam, array.cfg.data.post_process)
    rounds = []
    for _ in range(1 + ROUNDS):
        start = time.perf_counter()
        ours = translate_array(array.task, array.model, *settings, members)[0]
        middle = time.perf_counter()
        theirs = translate(array.task, stock, *settings)
        rounds.append((len(members) * len(ours) / (middle - start), len(theirs) / (time.perf_counter() - middle)))
    references = array.corpus.lines("test", array.cfg.data.target_lang)
    return DecodingSpeed(
        members=len(members),
        ours=[mine for mine, _ in rounds[1:]],  # the first round warms up
        stock=[other for _, other in rounds[1:]],
        device=device_name(array.trainer.cuda),
        bleu=tokenised_bleu(ours, references).bleu,
        stock_bleu=tokenised_bleu(theirs, references).bleu,
        sentences=len(sentences),
        beam=evaluation.test_beam,
    )


def write(found: list[DecodingSpeed], what: str, folder: Path) -> None:
    """Write ``decoding.md``, ``decoding.json`` and ``decoding.png``."""
    figure = Figure(figsize=(6, 3.4), dpi=150, layout="constrained")
    plot_ratios(figure.subplots(), found, "sentences")
    title = f"Translating with sweep arrays against fairseq's search: {what}"
    write_array_page(found, title, figure, folder, "decoding")


if __name__ == "__main__":
    print_measured(_measure_sizes)
