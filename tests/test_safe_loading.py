"""Checkpoints that someone else may have written: nothing in them is run."""

import copy
import os
from argparse import Namespace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import torch
from fairseq import checkpoint_utils
from helpers import Touch

from lnexp.errors import UserError
from lnexp.safe_loading import load
from lnexp.theory.checkpoint import trained_model

CODE = "__import__('pathlib').Path({path!r}).touch()"
#: The same without a parenthesis: what a class does with brackets becomes exec, which reads escapes.
WITHOUT_CALL = (
    r"""[quit['__import__\x28"pathlib"\x29.Path\x28"{path}"\x29.touch\x28\x29']"""
    " for quit.__class__.__getitem__ in [exec]]"
)


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
@pytest.mark.parametrize("template", [CODE, WITHOUT_CALL])
def test_options_of_a_known_model_cannot_call(tmp_path, touched, state, name, template):
    code = template.format(path=touched)
    model = state["cfg"]["model"] | {"_name": name}
    for options in ({"adaptive_softmax_cutoff": code}, {"encoder": {"xformers_att_config": code}}):
        path = saved(tmp_path, state, model=model | options)
        for opened in (load, lambda path: trained_model(path, None, None)):
            with pytest.raises(UserError, match="has code for the model's"):
                opened(path)
    assert not touched.exists()


@pytest.mark.parametrize(
    ("kind", "options", "unknown"),
    [
        ("model", {"_name": "transformer", "arch": "fconv"}, "fconv"),
        ("task", {"_name": "translation", "task": "sentence_prediction"}, "sentence_prediction"),
        ("criterion", {"_name": "cross_entropy", "criterion": "ctc"}, "ctc"),
        ("criterion", {}, "None"),
    ],
)
def test_each_name_under_which_fairseq_may_look_is_known(tmp_path, state, kind, options, unknown):
    for part in (options, Namespace(**options)):  # fairseq reads one key of the one, and another of the other
        with pytest.raises(UserError, match=f"has the {kind} '{unknown}', which is n"):
            load(saved(tmp_path, state, **{kind: part}))


def test_options_of_the_loss_cannot_call(tmp_path, touched, state):
    options = {"_name": "cross_entropy", "wer_args": CODE.format(path=touched)}
    with pytest.raises(UserError, match="has code for the criterion's wer_args"):
        load(saved(tmp_path, state, criterion=options))


def test_embeddings_are_read_from_no_pipe(tmp_path, state):
    os.mkfifo(tmp_path / "pipe")
    for there in (tmp_path / "pipe", "/dev/zero"):
        model = state["cfg"]["model"] | {"_name": "transformer", "encoder_embed_path": str(there)}
        with pytest.raises(UserError, match=r"encoder_embed_path from .*, which is no regular file"):
            load(saved(tmp_path, state, model=model))


@pytest.mark.parametrize(
    ("part", "size"),
    [
        ("model", {"encoder_layers": 10**9}),
        ("model", {"encoder_layers": "1000000000"}),
        ("model", {"decoder_ffn_embed_dim": 10**12}),
        ("model", {"max_source_positions": 10**10}),
        ("task", {"max_target_positions": 10**10}),
        ("model", {"decoder_attention_heads": "9" * 5000}),  # more digits than Python reads
    ],
    ids=lambda said: str(said)[:40] if isinstance(said, str) else next(iter(said)),
)
def test_a_model_that_would_fill_the_memory_is_not_built(tmp_path, state, part, size):
    with pytest.raises(
        UserError, match=rf"has {part}.{next(iter(size))}=.*, more than the \d+ that its parameters allow; it is not"
    ):
        load(saved(tmp_path, state, **{part: state["cfg"][part] | size}))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": {"encoder_layers": -1}}, "must be at least 1"),
        ({"task": {"data": 5}}, "its corpus is no longer at 5"),
    ],
)
def test_what_makes_no_model_is_one_line(tmp_path, state, changed, message):
    parts = {name: state["cfg"][name] | options for name, options in changed.items()}
    with pytest.raises(UserError, match=message) as error:
        trained_model(saved(tmp_path, state, **parts), None, None)
    assert "\n" not in str(error.value)


def test_parameters_that_are_none_are_refused_in_a_line(tmp_path, state):
    torch.save(state | {"model": dict.fromkeys(state["model"], 5)}, tmp_path / "other.pt")
    with pytest.raises(UserError, match=r"makes no model, .*\(TypeError: "):
        trained_model(tmp_path / "other.pt", None, None)


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


def test_fairseq_loads_as_we_do_whatever_the_environment_says(tmp_path, touched, state, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    torch.save(state | {"extra_state": Touch(touched)}, tmp_path / "other.pt")
    with pytest.raises(UserError, match="holds more than tensors and plain values"):
        checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "other.pt"))
    with pytest.raises(UserError, match="holds more than tensors and plain values"):
        checkpoint_utils.load_model_ensemble_and_task([str(tmp_path / "other.pt")])
    assert not touched.exists()


def test_a_file_that_is_exchanged_while_it_is_looked_at_is_not_read(tmp_path, touched, state, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    path, other, read = tmp_path / "a.pt", tmp_path / "b.pt", torch.load
    torch.save(state, path)
    torch.save(state | {"extra_state": Touch(touched)}, other)

    def exchanged(file, **options):
        found = read(file, **options)
        if other.exists():
            other.replace(path)
        return found

    monkeypatch.setattr(torch, "load", exchanged)
    assert load(path)["extra_state"].keys() == state["extra_state"].keys()
    assert not other.exists()
    assert not touched.exists()


def repacked(source: Path, place: Path, name: str, compression: int, more: bytes = b"") -> Path:
    """Write an archive again, with more bytes in one of its files, and that compressed in a way."""
    with ZipFile(source) as archive, ZipFile(place, "w") as other:
        for entry in archive.namelist():
            is_it = entry.endswith(name)
            how = compression if is_it else ZIP_STORED
            other.writestr(entry, archive.read(entry) + (more if is_it else b""), how)
    return place


@pytest.mark.parametrize("name", ["/data.pkl", "/data/0", "/version", "/byteorder"])
def test_an_archive_that_unpacks_to_more_than_its_file_is_not_unpacked(tmp_path, state, name):
    torch.save(state, tmp_path / "whole.pt")
    path = repacked(tmp_path / "whole.pt", tmp_path / "packed.pt", name, ZIP_DEFLATED, bytes(2**24))
    with pytest.raises(UserError, match=r"packed\.pt: no checkpoint, for it is packed"):
        load(path)


def test_an_archive_whose_entries_share_their_bytes_is_not_loaded(tmp_path, state):
    torch.save(state, tmp_path / "whole.pt")
    path = tmp_path / "shared.pt"
    with ZipFile(tmp_path / "whole.pt") as archive, ZipFile(path, "w") as other:
        for entry in archive.namelist():
            other.writestr(entry, archive.read(entry))
        largest = max(other.filelist, key=lambda entry: entry.file_size)
        for number in range(100):
            again = copy.copy(largest)
            again.filename = f"archive/data/again{number}"
            other.filelist.append(again)
    with pytest.raises(UserError, match=r"shared\.pt: no checkpoint, for it is packed"):
        load(path)


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


def test_a_parameter_that_states_more_than_its_memory_holds_allows_no_large_model(tmp_path, state):
    changed = copy.copy(state)
    changed["model"] = state["model"] | {"wide": torch.zeros(1).expand(10**6)}
    changed["cfg"] = state["cfg"] | {"model": state["cfg"]["model"] | {"encoder_embed_dim": 10**6}}
    torch.save(changed, tmp_path / "wide.pt")
    with pytest.raises(UserError, match=r"has model\.encoder_embed_dim=1000000, more than"):
        load(tmp_path / "wide.pt")


def test_a_config_that_holds_itself_is_one_line(tmp_path, state):
    model = dict(state["cfg"]["model"])
    model["self"] = {}
    model["self"]["self"] = model["self"]
    changed = copy.copy(state)
    changed["cfg"] = state["cfg"] | {"model": model}
    torch.save(changed, tmp_path / "endless.pt")
    with pytest.raises(UserError, match=r"endless\.pt: its config holds itself"):
        load(tmp_path / "endless.pt")


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (lambda: torch.empty(10**6, device="meta"), "has the parameter wide, which is no plain tensor"),
        (
            lambda: torch.sparse_coo_tensor(torch.zeros(1, 1, dtype=torch.long), torch.ones(1), (10**6,)),
            "has the parameter wide, which is no plain tensor",
        ),
        (
            lambda: torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.quint8),
            "has the parameter wide, which is no plain tensor",
        ),
        (lambda: torch.nested.nested_tensor([torch.zeros(2)]), "has the parameter wide, which is no plain tensor"),
        (lambda: torch.empty(10**6, 0), r"has model\.encoder_embed_dim=1000000, more than"),
        (lambda: torch.zeros(10**6), r"states layers of 4\S+ numbers, more than the 1,"),
    ],
    ids=["meta", "sparse", "quantized", "nested", "empty", "padding"],
)
def test_a_parameter_that_holds_nothing_allows_no_wide_model(tmp_path, state, parameter, message):
    changed = copy.copy(state)
    changed["model"] = state["model"] | {"wide": parameter()}
    changed["cfg"] = state["cfg"] | {"model": state["cfg"]["model"] | {"encoder_embed_dim": 10**6}}
    torch.save(changed, tmp_path / "wide.pt")
    with pytest.raises(UserError, match=message):
        load(tmp_path / "wide.pt")


def test_names_of_parameters_allow_no_layers(tmp_path, state):
    changed = copy.copy(state)
    changed["model"] = state["model"] | {f"more{number}": torch.zeros(()) for number in range(200)}
    for side in ("encoder", "decoder"):
        other = "decoder" if side == "encoder" else "encoder"
        options = {f"{side}_layers": 200, f"{side}_embed_dim": 4096, f"{other}_layers": -(10**4)}
        changed["cfg"] = state["cfg"] | {"model": state["cfg"]["model"] | options}
        torch.save(changed, tmp_path / "deep.pt")
        with pytest.raises(UserError, match=r"states layers of \S+ numbers, more than the"):
            load(tmp_path / "deep.pt")


def test_parameters_that_state_more_than_the_file_holds_are_not_loaded(tmp_path, state):
    for large in (torch.zeros(1).expand(10**9), torch.zeros(10**6)):
        repeated = {f"large{number}": large for number in range(10)}  # of one memory, which is saved once
        torch.save(state | {"model": state["model"] | repeated}, tmp_path / "large.pt")
        with pytest.raises(UserError, match="has parameters of more bytes than the file"):
            load(tmp_path / "large.pt")
