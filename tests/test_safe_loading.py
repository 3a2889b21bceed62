"""Checkpoints that someone else may have written: nothing in them is run."""

import copy
import os
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from helpers import Touch

from lnexp.errors import UserError
from lnexp.safe_loading import load
from lnexp.theory.checkpoint import trained_model

CODE = "__import__('pathlib').Path({path!r}).touch()"


@pytest.fixture(scope="module")
def state(checkpoint):
    return torch.load(checkpoint, weights_only=True)


@pytest.fixture
def touched(tmp_path) -> Path:
    return tmp_path / "touched"


def saved(folder: Path, state: dict, **parts: object) -> Path:
    """Write a checkpoint whose config has other parts."""
    changed = copy.copy(state)
    changed["cfg"] = state["cfg"] | parts
    torch.save(changed, folder / "other.pt")
    return folder / "other.pt"


def test_what_we_save_is_loaded(checkpoint, state):
    assert load(checkpoint)["model"].keys() == state["model"].keys()


@pytest.mark.parametrize("form", [dict, lambda **options: Namespace(**options)])
@pytest.mark.parametrize("name", ["fconv", "lstm", "transformer_lm", "transformer_from_pretrained_xlm", "lnexp_none"])
def test_a_model_that_is_not_known_is_not_built(tmp_path, touched, state, form, name):
    code = CODE.format(path=str(touched))
    path = saved(tmp_path, state, model=form(_name=name, encoder_layers=code, decoder_layers=code))
    for opened in (load, lambda path: trained_model(path, None, None)):
        with pytest.raises(UserError, match=f"has the model '{name}', which is neither ours nor"):
            opened(path)
    assert not touched.exists()


@pytest.mark.parametrize("name", ["transformer", "lnexp_pre_ln"])
def test_options_of_a_known_model_cannot_call(tmp_path, touched, state, name):
    code = CODE.format(path=str(touched))
    path = saved(tmp_path, state, model=state["cfg"]["model"] | {"_name": name, "adaptive_softmax_cutoff": code})
    with pytest.raises(UserError, match="has code for the model's adaptive_softmax_cutoff"):
        load(path)
    assert not touched.exists()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"task": {"_name": "audio_finetuning"}}, "has the task 'audio_finetuning', which is not known"),
        ({"criterion": {"_name": "wav2vec"}}, "has the criterion 'wav2vec', which is not known"),
        ({"task": {"_name": "translation", "data": "${oc.env:HOME}"}}, "has an interpolation for task.data"),
        ({"model": "fconv"}, "has the model 'fconv'"),
    ],
)
def test_the_rest_of_its_config_is_known_and_plain(tmp_path, state, parts, message):
    with pytest.raises(UserError, match=message) as error:
        load(saved(tmp_path, state, **parts))
    assert "\n" not in str(error.value)


def test_options_of_fairseqs_command_line_are_no_code(tmp_path, state):
    options = state["cfg"]["model"] | {"_name": "transformer_iwslt_de_en", "adam_betas": "(0.9, 0.98)"}
    assert load(saved(tmp_path, state, model=Namespace(**options)))


def test_an_environment_variable_changes_nothing(tmp_path, touched, state, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    torch.save(state | {"extra_state": Touch(touched)}, tmp_path / "other.pt")
    with pytest.raises(UserError, match="holds more than tensors and plain values"):
        load(tmp_path / "other.pt")
    assert not touched.exists()


@pytest.mark.parametrize("part", ["cfg", "model", "extra_state", "optimizer_history"])
def test_a_checkpoint_that_lacks_a_part_is_refused(tmp_path, part):
    state = {"cfg": {}, "model": {}, "extra_state": {}, "optimizer_history": []}
    for changed in ({**state, part: None}, {**state, part: 5}):
        torch.save(changed, tmp_path / "other.pt")
        with pytest.raises(UserError, match=f"no checkpoint of fairseq's; it has no {part}"):
            load(tmp_path / "other.pt")


def test_what_is_no_checkpoint_is_refused_in_a_line(tmp_path):
    path = tmp_path / "other.pt"
    torch.jit.script(torch.nn.Linear(1, 1)).save(str(path))
    with pytest.raises(UserError, match=r"other\.pt: no checkpoint"):
        load(path)
    torch.save([1, 2], path)
    with pytest.raises(UserError, match="no checkpoint of fairseq's, but a list"):
        load(path)
    for content in (b"", b"x" * 100, b"PK\x03\x04" + b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"other\.pt: "):
            load(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UserError, match="not a regular file"):
        load(path)


def test_options_of_old_form_and_missing_files_are_refused(tmp_path, state):
    torch.save(state | {"args": Namespace(arch="fconv")}, tmp_path / "old.pt")
    with pytest.raises(UserError, match="a form that fairseq gave up"):
        load(tmp_path / "old.pt")
    with pytest.raises(UserError, match="no such file"):
        load(tmp_path / "gone.pt")
