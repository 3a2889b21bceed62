"""Load checkpoints of fairseq's without running code that they may hold.

Code can lie in two places of a checkpoint: in its pickle, of which torch loads tensors and plain values alone, and in
the strings of its config, some of which fairseq's models evaluate. What is used is what was looked at: a file is read
once, here, also where fairseq asks for it.
"""

import os
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import torch
from fairseq import checkpoint_utils
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import TASK_REGISTRY
from omegaconf import OmegaConf

import lnexp.plugin  # noqa: F401  (registers our models, and what else torch may load)
from lnexp.errors import UserError
from lnexp.files import opened_regular
from lnexp.inert import is_inert, strings
from lnexp.model_sizes import too_large
from lnexp.plugin.encoder_decoder import EncoderDecoder
from lnexp.runs.saved_checkpoints import OF_EPOCH, WITHIN_EPOCH
from lnexp.versions import check_torch

#: Tasks and criteria of fairseq's that evaluate no string; ours begin with lnexp_.
KNOWN = {
    "task": ("translation",),
    "criterion": ("cross_entropy", "label_smoothed_cross_entropy", "label_smoothed_cross_entropy_with_alignment"),
}
#: The keys under which fairseq looks for the name of a part: the first of them in some forms of a config, the last in
#: others.
NAMES = {"model": ("_name", "arch"), "task": ("_name", "task"), "criterion": ("_name", "criterion")}
#: How the options end that name a file which the Transformer of fairseq reads embeddings from.
EMBEDDINGS = "embed_path"


#: The names of folders of runs, which end with the run's identity.
RUN_FOLDER = re.compile(r".+-(?P<identity>[0-9a-f]{8})")


def load(path: Path) -> dict[str, Any]:
    """Return the state in a checkpoint, on the CPU.

    Raises:
        UserError: as :func:`read` does, and, in the folder of a run, as :func:`refuse_other_run` does.
    """
    state = read(path)
    if folder := RUN_FOLDER.fullmatch(path.absolute().parent.parent.name):
        refuse_other_run(path, state["extra_state"], folder["identity"])
    return state


def read(path: Path) -> dict[str, Any]:
    """Return the state in a checkpoint of whichever run, in today's form, on the CPU.

    Raises:
        UserError: for a checkpoint that would run code, or fill the memory, when it is loaded or its model is built:
            for anything but tensors and plain values; for a model that is neither ours nor fairseq's Transformer, a
            task or criterion that is not known; for an option of the model or the criterion that is neither words nor
            a literal, or a config with interpolations; for sizes of a model beyond those of the parameters that are
            there; for a file that is no checkpoint of fairseq's, or lacks a part of one; where there is no such file,
            or torch is too old. No code of the file was run.
    """
    check_torch()
    state, size = _loaded(path)
    _refuse(path, state, size)
    try:
        state["cfg"] = OmegaConf.create(state["cfg"], flags={"allow_objects": True})
        today: dict[str, Any] = checkpoint_utils._upgrade_state_dict(state)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # while it brings older forms up to date
        raise UserError(f"{path}: no checkpoint of fairseq's ({in_a_line(error)})") from error
    return today


def _for_fairseq(path: str, arg_overrides: dict[str, Any] | None = None, load_on_all_ranks: bool = False) -> Any:
    """Return the state in a checkpoint, with options of its config overwritten: in place of fairseq's own function."""
    state = read(Path(path))
    checkpoint_utils.overwrite_args_by_name(state["cfg"], arg_overrides or {})
    return state


# fairseq's own leaves it to torch, and so to an environment variable, what is loaded of a pickle
checkpoint_utils.load_checkpoint_to_cpu = _for_fairseq


def in_a_line(error: Exception) -> str:
    """Return the kind of an error of fairseq's or torch's, and the last line of what it says."""
    what = " ".join((str(error).splitlines() or [""])[-1].split())
    return f"{type(error).__name__}: {what}"


@contextmanager
def making_a_model(path: Path) -> Iterator[None]:
    """Say in one line what fairseq, torch and our models raise where a checkpoint's model is built in the block.

    Raises:
        UserError: where its config makes no model, or its parameters do not fit the model or the corpus.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # whatever the file states
        why = "another vocabulary" if "size mismatch" in str(error) else in_a_line(error)
        raise UserError(f"{path}: makes no model, or does not fit the corpus ({why})") from error


def refuse_other_run(path: Path, extra_state: Mapping[str, Any], identity: str) -> None:
    """Refuse a checkpoint of another run, or of another epoch than its name says.

    One that names no run was written by older code.

    Raises:
        UserError: for such a checkpoint, and for one that does not say how far the run was.
    """
    found = extra_state.get("identity") or identity
    if found != identity:
        raise UserError(f"{path}: is of run {found}, not of {identity}; force=true trains the run afresh")
    place = extra_state.get("train_iterator")
    if not isinstance(place, Mapping) or not isinstance(place.get("epoch"), int):
        raise UserError(f"{path}: does not say how far the run was; force=true trains the run afresh")
    within, whole = WITHIN_EPOCH.fullmatch(path.name), OF_EPOCH.fullmatch(path.name)
    # at the end of an epoch fairseq says where the next one begins
    ends = whole and not place.get("iterations_in_epoch")
    epoch = place["epoch"] - 1 if ends else place["epoch"]
    if (named := within or whole) and epoch != int(named["epoch"]):
        raise UserError(f"{path}: is of epoch {epoch}, not of {named['epoch']}; force=true trains the run afresh")


def _refuse(path: Path, state: Any, size: int) -> None:
    """Refuse what a file holds where it is no checkpoint of fairseq's, or its config would run code."""
    if not isinstance(state, dict):
        raise UserError(f"{path}: no checkpoint of fairseq's, but a {type(state).__name__}")
    if state.get("args") is not None:
        raise UserError(f"{path}: has its options in a form that fairseq gave up in 2020, and is not loaded")
    for name, kind in PARTS.items():
        if not isinstance(state.get(name), kind):
            raise UserError(f"{path}: no checkpoint of fairseq's; it has no {name}")
    try:
        cfg = _plain(state["cfg"])
    except RecursionError as error:
        raise UserError(f"{path}: its config holds itself; it is not loaded") from error
    if why := _suspicious(cfg) or too_large(cfg, state["model"], _sides(cfg), size):
        raise UserError(f"{path}: {why}; it is not loaded")


#: The parts of a checkpoint that fairseq relies on.
PARTS = {"cfg": Mapping | Namespace, "model": Mapping, "extra_state": Mapping, "optimizer_history": list}


def _loaded(path: Path) -> tuple[Any, int]:
    """Return what torch reads from a file without running code of it, and how many bytes the file has.

    Raises:
        UserError: where torch reads nothing, or would unpack more than the file.
    """
    try:
        with opened_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            _refuse_packed(path, file, size)
            file.seek(0)
            return torch.load(file, map_location="cpu", weights_only=True), size
    except UnpicklingError as error:
        what = "holds more than tensors and plain values, and is not loaded"
        raise UserError(f"{path}: {what}; force=true trains the run afresh") from error
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except (BadZipFile, RuntimeError, EOFError, LookupError, ValueError, TypeError, AttributeError) as error:
        # of torch, for TorchScript, for archives of other things, and for damaged ones
        why = str(error).partition("\n")[0]
        raise UserError(f"{path}: no checkpoint ({type(error).__name__}: {why})") from error


def _refuse_packed(path: Path, file: BinaryIO, size: int) -> None:
    """Refuse an archive of more bytes than its file has. torch compresses nothing, and would unpack any size.

    Raises:
        UserError: for such an archive.
        BadZipFile: where it is none.
    """
    with ZipFile(file) as archive:
        entries = archive.infolist()
    packed = any(entry.compress_type != ZIP_STORED for entry in entries)
    if packed or sum(entry.file_size for entry in entries) > size:
        raise UserError(f"{path}: no checkpoint, for it is packed; it is not loaded")


def _suspicious(cfg: Mapping[str, Any]) -> str:
    """Return what is wrong with the config of a checkpoint; empty where nothing is."""
    for kind in NAMES:
        names = _names(cfg.get(kind), kind)
        if unknown := next((name for name in names if not _is_known(kind, name)), "" if names else "None"):
            what = "is neither ours nor fairseq's Transformer" if kind == "model" else "is not known"
            return f"has the {kind} {unknown!r}, which {what}"
    for kind in ("model", "criterion"):
        for name, value in strings(cfg[kind]):
            if not is_inert(value):
                return f"has code for the {kind}'s {name}, {value!r}"
            if name.endswith(EMBEDDINGS) and not Path(value).is_file():
                return f"takes the model's {name} from {value}, which is no regular file"
    for name, value in strings(cfg):
        if "${" in value:
            return f"has an interpolation for {name}"
    return ""


def _sides(cfg: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which stacks of layers the model has: those of the families of the task's names."""
    tasks = [TASK_REGISTRY.get(name) for name in _names(cfg["task"], "task")]
    families = [getattr(task, "family", EncoderDecoder) for task in tasks]
    return tuple({side for family in families for side in family.sides})


def _names(part: Any, kind: str) -> list[str]:
    """Return what a part of a config is called, under whichever keys fairseq may look for its name."""
    if not isinstance(part, Mapping):
        return [str(part)] if part is not None else []
    return [str(part[key]) for key in NAMES[kind] if part.get(key) is not None]


def _is_known(kind: str, name: str) -> bool:
    """Return whether a part is ours, or one of fairseq's that evaluates nothing but what is looked at."""
    if kind != "model":
        return name.startswith("lnexp_") or name in KNOWN[kind]
    of_fairseq = ARCH_MODEL_REGISTRY.get(name) is TransformerModel
    return of_fairseq or (name.startswith("lnexp_") and name in MODEL_REGISTRY)


def _plain(value: Any) -> Any:
    """Return a config with its parts as dictionaries."""
    match value:
        case Namespace():
            return _plain(vars(value))
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
    return value
