"""Compute the golden numbers of the current numerics, and compare or record them.

    PYTHONPATH=. python tests/golden_numerics.py       # record tests/golden_numerics.json

Three paths that all placements share are run for some updates on the embedded corpus: one run by itself with Adam and
dropout, an array of three optimizers, and beam search with the models that these gave. Then every placement, norm,
optimizer, schedule and intervention has a run of its own of one epoch. What is compared:

- On the machine where the file was recorded (the same CPU, instructions and torch): every number to the last digit.
- Elsewhere: numbers within :data:`TOLERANCE`, for kernels of another CPU round differently, and without the choice of
  words by beam search. A change of rounding alone is not seen there: it is what another machine does as well.

Neither form knows what the options of a placement, two choices together or longer training do that these runs do not
have.
"""

import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from helpers import TINY
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.files import write_json
from lnexp.numerics import NUMERICS
from lnexp.paths import files_of_group
from lnexp.runs.environment import cpu_name
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import of_kind, read
from lnexp.tasks.contract import Member
from lnexp.tasks.translation.array_decoding import translate_array
from lnexp.tasks.translation.decoding import FirstSentences, batches_of, translate
from lnexp.torch_variables import chosen_kernels
from lnexp.training.engine import Engine
from lnexp.training.models.array import ArrayModels

FILE = Path(__file__).with_name("golden_numerics.json")
#: Relative. Rounding moves these numbers by 1e-6 at most (attention by torch's kernel: 2e-7; mkldnn off or two threads:
#: 0; parameters moved by 1e-6: 8e-7). Of changed formulas, norms with ten times their epsilon move them by 2e-4, a
#: warm-up one update longer by 1e-1, label smoothing of 0.1001 by 3e-4, but attention scaled by 1.0001 by 5e-6 only.
TOLERANCE = 1e-5
#: The share of sentences for which rounding may choose other hypotheses.
MOST_FLIPS = 0.25
#: Of an ``epoch`` record: what is computed in floating point.
NUMBERS = ("train_loss", "grad_norm", "valid_loss", "valid_nll", "lr")
BEAM = 5
#: The folders of ``configs/`` whose every file has a run of its own.
CHOICES = ("model", "norm", "optimizer", "lr_schedule", "intervention")

#: Two layers a side, two epochs of seven updates.
COMMON = [*TINY, "model.encoder_layers=2", "model.decoder_layers=2", "order_seed=7", "max_tokens=200", "max_epoch=2"]
COMMON += ["warmup_updates=4", "evaluation.lenpen=1.2"]
#: What changes during training does so within an epoch.
ALONE = ["max_epoch=1", "lr_max=1e-3", "seed=1"]
CHANGES = {
    "model=mix_ln": ["model.mix_ln_alpha=0.5"],
    "model=branch_norm": ["model.branch_norm_updates=4"],
    "model=pre_to_post": ["model.pre_to_post_updates=4"],
    "model=prores": ["model.prores_updates=2"],
    "optimizer=gathered_adam": ["optimizer.gather=2"],
    "lr_schedule=inverse_sqrt": ["lr_schedule.decay_from=4"],
    "lr_schedule=step": ["lr_schedule.decay_epoch=2", "max_epoch=2"],
    "intervention=late_updates": ["intervention.layers=1", "intervention.updates=4"],
}
SINGLE = ["model=post_ln", "optimizer=adam", "model.dropout=0.1", "lr_max=1e-3", "seed=1"]
ARRAY = [
    ["optimizer=adam", "lr_schedule.form=coupled", "lr_max=4e-3", "seed=1"],
    ["optimizer=radam", "lr_schedule=linear", "lr_max=4e-3", "seed=2"],
    ["optimizer=sgd", "lr_schedule=constant", "lr_max=0.5", "seed=3"],
]


def made_on() -> dict[str, Any]:
    """Return what decides how numbers are rounded."""
    return {
        "cpu": cpu_name(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "kernels": chosen_kernels(),
        "mkl": torch.backends.mkl.is_available(),
    }


def golden(data_dir: Path) -> dict[str, Any]:
    """Return the numbers and translations of all paths, by path.

    Args:
        data_dir: where the corpus is prepared.
    """
    with tempfile.TemporaryDirectory() as here:
        single = _trained(Path(here), data_dir, [SINGLE])
        array = _trained(Path(here), data_dir, [["model=pre_ln", *member] for member in ARRAY])
        return {
            "single": [_numbers(member.folder) for member in single.members.values()],
            "array": [_numbers(member.folder) for member in array.members.values()],
            "beam_search": _searched(single, array),
        }


def every_choice() -> list[str]:
    """Return the overrides that choose a file of :data:`CHOICES`."""
    return [f"{group}={name}" for group in CHOICES for name in files_of_group(group)]


def golden_choice(data_dir: Path, choice: str) -> list[dict[str, Any]]:
    """Return the numbers of a run with a choice.

    Args:
        data_dir: where the corpus is prepared.
        choice: one of :func:`every_choice`.
    """
    with tempfile.TemporaryDirectory() as here:
        engine = _trained(Path(here), data_dir, [[*ALONE, choice, *CHANGES.get(choice, [])]])
        (member,) = engine.members.values()
        return _numbers(member.folder)


def _trained(here: Path, data_dir: Path, members: list[list[str]]) -> Engine:
    """Train runs to the end: one by itself, several as an array."""
    cfgs = [compose([*COMMON, *own, f"data_dir={data_dir}"]) for own in members]
    folders = [RunFolder(here / f"{len(members)}-{number:08}") for number in range(len(members))]
    for cfg, folder in zip(cfgs, folders, strict=True):
        OmegaConf.resolve(cfg)
        folder.checkpoints.mkdir(parents=True)
    corpus = prepare(cfgs[0].data, cfgs[0].data_dir)
    together = list(map(Member, cfgs, folders))
    engine = Engine(together, corpus, ArrayModels) if len(members) > 1 else Engine(together, corpus)
    engine.train()
    return engine


def _numbers(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the numbers of a run, epoch by epoch."""
    epochs = of_kind("epoch", read(folder.metrics))
    return [{key: record[key] for key in ("update", *NUMBERS)} for record in epochs]


@torch.no_grad()
def _searched(single: Engine, array: Engine) -> dict[str, Any]:
    """Return the scores of the best hypotheses, nats a token after the penalty, and the words of all models."""
    cfg = next(iter(single.members.values())).cfg
    sentences = FirstSentences(single.task.dataset("test"), 0)
    search = (sentences, cfg.evaluation, BEAM, cfg.data.post_process)
    of_array = translate_array(array.task, array.model, *search, list(array.members))
    words = [translate(single.task, single.model, *search), *of_array.values()]
    return {"scores": list(_scores(single, sentences, cfg.evaluation)), "words": words}


def _scores(engine: Engine, sentences: FirstSentences, settings: Any) -> Iterator[float]:
    from argparse import Namespace

    limits = {key: settings[key] for key in ("lenpen", "max_len_a", "max_len_b")}
    generator = engine.task.build_generator([engine.model], Namespace(beam=BEAM, **limits))
    for batch in batches_of(engine.task, engine.model, sentences, settings.max_tokens):
        for found in engine.task.inference_step(generator, [engine.model], batch):
            yield float(found[0]["score"])


def differences(golden: Any, now: Any, relative: float, where: str = "") -> list[str]:
    """Return a line for every value that is not the same, or that differs by more than ``relative``; 0 is exact.

    Which of two hypotheses of nearly one score stays in the beam hangs on rounding. So words are compared only exactly,
    and otherwise :data:`MOST_FLIPS` of the scores may differ.
    """
    if relative and where.endswith("/scores") and len(golden) == len(now):
        pairs = enumerate(zip(golden, now, strict=True))
        lines = [line for number, pair in pairs for line in differences(*pair, relative, f"{where}/{number}")]
        return lines if len(lines) > MOST_FLIPS * len(golden) else []
    if isinstance(golden, dict) and isinstance(now, dict) and golden.keys() == now.keys():
        names = [key for key in golden if not (relative and key == "words")]
        return [line for key in names for line in differences(golden[key], now[key], relative, f"{where}/{key}")]
    if isinstance(golden, list) and isinstance(now, list) and len(golden) == len(now):
        pairs = enumerate(zip(golden, now, strict=True))
        return [line for number, pair in pairs for line in differences(*pair, relative, f"{where}/{number}")]
    if isinstance(golden, float) and isinstance(now, float):
        alike = abs(golden - now) <= relative * abs(golden)
    else:
        alike = golden == now
    return [] if alike else [f"{where}: {golden!r} is now {now!r}"]


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as here:
        content = {"numerics": NUMERICS, "made_on": made_on(), "runs": golden(Path(here))}
        content["choices"] = {choice: golden_choice(Path(here), choice) for choice in every_choice()}
    write_json(FILE, content, indent=1, ensure_ascii=False)
    print(f"{FILE.name}: recorded at numerics {NUMERICS}")


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    main()
