"""What a run costs beside its own training: start, imports, data that is there already, records, tracker."""

import statistics
import subprocess
import sys
import tempfile
import time

from lnexp.benchmarks.markdown import markdown
from lnexp.configuration import ROOT

ROUNDS = 3
#: As small as it goes.
TINY_MODEL = (
    "model.encoder_embed_dim=32",
    "model.decoder_embed_dim=32",
    "model.encoder_ffn_embed_dim=32",
    "model.decoder_ffn_embed_dim=32",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "warmup_updates=1",
)
#: A run of what all runs have in common.
SMALL = (*TINY_MODEL, "scale.toy={train_pairs: 10, valid_pairs: 1, test_pairs: 1}", "max_epoch=1")


def table() -> str:
    """Median seconds of a run that has next to nothing to train, by tracker; alone, and as one of a sweep."""
    rows = []
    for tracker in ("none", "offline"):
        with tempfile.TemporaryDirectory() as here:
            _seconds(here, f"tracker={tracker}", "seed=100")  # prepares the corpus
            alone = [_seconds(here, f"tracker={tracker}", f"seed={seed}") for seed in range(ROUNDS)]
            one = _seconds(here, "-m", f"tracker={tracker}", "seed=10")
            nine = _seconds(here, "-m", f"tracker={tracker}", "seed=range(20,29)")
        rows.append([tracker, f"{statistics.median(alone):.1f}", f"{(nine - one) / 8:.1f}"])
    return markdown(("tracker", "a run alone, s", "one more run of a sweep, s"), rows)


def _seconds(here: str, *arguments: str) -> float:
    where = [f"runs_dir={here}/runs", f"data_dir={here}/data"]
    command = [sys.executable, str(ROOT / "scripts/train.py"), *arguments, *SMALL, *where]
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - start
