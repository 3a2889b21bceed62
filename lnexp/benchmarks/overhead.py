"""Time the commands beside training: answers to ``--help`` and to mistakes, and a run with next to nothing to train."""

import statistics
import subprocess
import sys
import tempfile
import time

from lnexp.benchmarks.page import markdown
from lnexp.paths import ROOT

ANSWERS = {"--help": ["--help"], "an unknown option": ["lr_mxa=1"], "an unknown model": ["model=pre_lnn"]}
ANSWER_ROUNDS = 5
RUN_ROUNDS = 3
#: The smallest model.
TINY_MODEL = (
    "model.encoder_embed_dim=32",
    "model.decoder_embed_dim=32",
    "model.encoder_ffn_embed_dim=32",
    "model.decoder_ffn_embed_dim=32",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "warmup_updates=1",
)
#: A run that does little beyond what all runs do.
SMALL_RUN = (*TINY_MODEL, "scale.toy={train_pairs: 10, valid_pairs: 1, test_pairs: 1}", "max_epoch=1")


def answers_table() -> str:
    """Return the median seconds of ``scripts/train.py`` with arguments that train nothing, as a Markdown table."""
    rows = []
    for question, arguments in ANSWERS.items():
        seconds = statistics.median(_seconds(*arguments, may_fail=True) for _ in range(ANSWER_ROUNDS))
        rows.append([question, f"{seconds:.2f}"])
    return markdown(("train.py with", "seconds"), rows)


def table() -> str:
    """Return median seconds of a small run, alone and as one more run of a sweep, by tracker, as a Markdown table."""
    rows = []
    for tracker in ("none", "offline"):
        with tempfile.TemporaryDirectory() as here:
            settings = [f"tracker={tracker}", *SMALL_RUN, f"runs_dir={here}/runs", f"data_dir={here}/data"]
            _seconds(*settings, "seed=100")  # prepares the corpus
            alone = [_seconds(*settings, f"seed={seed}") for seed in range(RUN_ROUNDS)]
            one = _seconds("-m", *settings, "seed=10")
            nine = _seconds("-m", *settings, "seed=range(20,29)")
        rows.append([tracker, f"{statistics.median(alone):.1f}", f"{(nine - one) / 8:.1f}"])
    return markdown(("tracker", "a run alone, s", "one more run of a sweep, s"), rows)


def _seconds(*arguments: str, may_fail: bool = False) -> float:
    command = [sys.executable, str(ROOT / "scripts" / "train.py"), *arguments]
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=not may_fail)
    return time.perf_counter() - start
