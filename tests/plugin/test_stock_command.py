"""``fairseq-train --user-dir lnexp/plugin``: the plugin without the rest of us."""

import os
import re
import subprocess
import sys

import pytest
from helpers import ROOT, TINY

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare

CASES = {
    "pre_ln": "--optimizer lnexp_adam --lr-scheduler lnexp_inverse_sqrt --form coupled --decay-from 77 --betas [0.8,0.9]",
    "post_ln": "--optimizer lnexp_radam --lr-scheduler lnexp_step --decay-epoch 3",
}
ARRIVED = {
    "pre_ln": ["'betas': [0.8, 0.9]", "'form': coupled", "'decay_from': 77"],
    "post_ln": ["'betas': [0.9, 0.98]", "'decay_epoch': 3", "'factor': 0.1"],
}


@pytest.mark.parametrize("placement", CASES)
def test_stock_fairseq_train_takes_the_plugin(tmp_path, prepared, placement):
    corpus = prepare(compose(TINY).data, prepared)
    words = [str(corpus.bin), "--user-dir", str(ROOT / "lnexp" / "plugin"), "--task", "lnexp_translation"]
    words += ["--arch", f"lnexp_{placement}", "--encoder-layers", "1", "--decoder-layers", "2", "--init", "fairseq"]
    words += ["--encoder-embed-dim", "32", "--decoder-embed-dim", "32", "--encoder-ffn-embed-dim", "48"]
    words += ["--share-decoder-input-output-embed", "--warmup-updates", "5", "--lr", "1e-3", *CASES[placement].split()]
    words += ["--criterion", "label_smoothed_cross_entropy", "--max-tokens", "300", "--max-epoch", "1", "--cpu"]
    words += ["--save-dir", str(tmp_path), "--log-format", "simple"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "fairseq_cli.train", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    log = done.stdout + done.stderr
    assert done.returncode == 0, log[-2000:]
    assert (tmp_path / "checkpoint1.pt").exists()
    for setting in [*ARRIVED[placement], "'encoder_ffn_embed_dim': 48", "'init': fairseq", "'encoder_layers': 1"]:
        assert setting in log, setting
    train = re.search(r"train \| epoch 001 .* bsz ([\d.]+) \| num_updates (\d+)", log)
    assert train is not None
    assert round(float(train[1]) * int(train[2])) == pytest.approx(120, abs=1), "every sentence, once"
