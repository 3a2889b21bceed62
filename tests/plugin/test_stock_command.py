"""``fairseq-train --user-dir lnexp/plugin``: the plugin without the rest of us."""

import re
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import build_model
from helpers import ROOT, TINY
from hydra.version import setbase
from omegaconf import OmegaConf
from warm_commands import run_warm

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.fairseq_config import to_fairseq
from lnexp.plain import plain
from lnexp.plugin.translation import LnexpTranslationTask

TRAINING = (
    "--encoder-layers 1 --decoder-layers 2 --encoder-embed-dim 32 --decoder-embed-dim 32 --encoder-ffn-embed-dim 48"
    " --share-decoder-input-output-embed --warmup-updates 5 --lr 1e-3 --criterion label_smoothed_cross_entropy"
    " --max-tokens 300 --max-epoch 1 --cpu --log-format simple"
)
CASES = {
    "pre_ln": "--optimizer lnexp_adam --betas [0.8,0.9] --lr-scheduler lnexp_inverse_sqrt --form coupled"
    " --decay-from 77",
    "post_ln": "--optimizer lnexp_radam --lr-scheduler lnexp_step --decay-epoch 3",
    "admin": "--optimizer lnexp_adam --lr-scheduler lnexp_constant --norm rms_norm",
}
ARRIVED = {
    "pre_ln": ["'betas': [0.8, 0.9]", "'form': coupled", "'decay_from': 77"],
    "post_ln": ["'betas': [0.9, 0.98]", "'decay_epoch': 3", "'factor': 0.1"],
    "admin": ["'norm': rms_norm", "'fix_norm': False"],
}


def fairseq_train(tmp_path, prepared, words: str) -> str:
    """Train an epoch of the tiny corpus with stock fairseq-train, and return what it says."""
    corpus = prepare(compose(TINY).data, prepared)
    command = ["-m", "fairseq_cli.train", str(corpus.bin), "--save-dir", str(tmp_path)]
    done = run_warm([*command, *TRAINING.split(), *words.split()], own_package=True)
    log = done.stdout + done.stderr
    assert done.returncode == 0, log[-2000:]
    return log


@pytest.mark.slow
@pytest.mark.parametrize("placement", CASES)
def test_stock_fairseq_train_takes_the_plugin(tmp_path, prepared, placement):
    plugin = f"--user-dir {ROOT / 'lnexp' / 'plugin'} --task lnexp_translation --arch lnexp_{placement} --init fairseq"
    log = fairseq_train(tmp_path, prepared, f"{plugin} {CASES[placement]}")
    assert (tmp_path / "checkpoint1.pt").exists()
    for setting in [*ARRIVED[placement], "'encoder_ffn_embed_dim': 48", "'init': fairseq", "'encoder_layers': 1"]:
        assert setting in log, setting
    train = re.search(r"train \| epoch 001 .* bsz ([\d.]+) \| num_updates (\d+)", log)
    assert train is not None
    assert round(float(train[1]) * int(train[2])) == pytest.approx(120, abs=1), "every sentence, once"


def test_the_documented_command_builds_the_model_of_train_py():
    page = (ROOT / "docs" / "running.md").read_text()
    (command,) = re.findall(r"^    fairseq-train (data/toy-\*/bin (?:.*\\\n)*.*)$", page, re.MULTILINE)
    words = command.replace("\\\n", " ").replace("--user-dir lnexp/plugin ", "").split()  # this process has it already
    setbase("1.1")  # fairseq composes with an interface that newer defaults refuse
    stock = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    cfg = compose(["model=pre_ln", "data=iwslt14", "profile=paper", "lr_max=5e-4"])
    ours = to_fairseq(cfg, Path("data"), Path("checkpoints"))
    for group in ("model", "optimizer", "criterion"):
        assert plain(stock[group]) == plain(ours[group])
    assert stock.dataset.max_tokens == ours.dataset.max_tokens


@pytest.mark.slow
def test_a_stock_checkpoint_file_loads_into_ours(tmp_path, prepared):
    """Weights only, and fairseq's argparse.Namespace allowed."""
    stock = "--arch transformer --optimizer adam --lr-scheduler inverse_sqrt"
    fairseq_train(tmp_path, prepared, f"{stock} --encoder-normalize-before --decoder-normalize-before")
    state = checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "checkpoint1.pt"))
    corpus = prepare(compose(TINY).data, prepared)
    languages = {"source_lang": "de", "target_lang": "en"}
    task = LnexpTranslationTask.setup_task(OmegaConf.create({"data": str(corpus.bin), **languages}))
    options = {"encoder_layers": 1, "decoder_layers": 2, "encoder_embed_dim": 32, "decoder_embed_dim": 32}
    options |= {"encoder_ffn_embed_dim": 48, "decoder_ffn_embed_dim": 48, "share_decoder_input_output_embed": True}
    options |= {"encoder_attention_heads": 8, "decoder_attention_heads": 8}
    options |= {"_name": "lnexp_pre_ln", "max_source_positions": 1024, "max_target_positions": 1024}
    model = build_model(OmegaConf.create(options), task)
    model.load_state_dict(state["model"], strict=True)
    loaded = model.state_dict()
    assert all(torch.equal(value, loaded[name]) for name, value in state["model"].items())
