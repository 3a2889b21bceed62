"""Load checkpoints of fairseq's without running code that they may hold.

Code can lie in two places of a checkpoint: in its pickle, of which torch loads tensors and plain values alone, and in
the strings of its config, some of which fairseq's models evaluate.
"""

import os
import re
import stat
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel

import lnexp.plugin  # noqa: F401  (registers our models, and what else torch may load)
from lnexp.errors import UserError
from lnexp.versions import check_torch

#: Tasks and criteria of fairseq's that evaluate no string; ours begin with lnexp_.
KNOWN = {
    "task": ("translation",),
    "criterion": ("cross_entropy", "label_smoothed_cross_entropy", "label_smoothed_cross_entropy_with_alignment"),
}
#: A call, without which an expression that is evaluated does nothing.
CALL = re.compile(r"""[\w)\]}"'.]\s*\(""")


def load(path: Path) -> dict[str, Any]:
    """Return the state in a checkpoint, on the CPU. Raises UserError as :func:`refuse_code` does."""
    refuse_code(path)
    state: dict[str, Any] = checkpoint_utils.load_checkpoint_to_cpu(str(path))
    return state


def refuse_other_run(path: Path, extra_state: Mapping[str, Any], identity: str) -> None:
    """Refuse a checkpoint of another run; one that names none was written by older code. Raises UserError."""
    found = extra_state.get("identity") or identity
    if found != identity:
        raise UserError(f"{path}: is of run {found}, not of {identity}; force=true trains the run afresh")


def refuse_code(path: Path | str) -> None:
    """Refuse a checkpoint that would run code when it is loaded, or when its model is built.

    Raises:
        UserError: for anything but tensors and plain values; for a model that is neither ours nor fairseq's
            Transformer, a task or criterion that is not known; for an option of the model with a call in it, or a
            config with interpolations; for a file that is no checkpoint of fairseq's, or lacks a part of one; where
            there is no such file, or torch is too old. No code of the file was run.
    """
    check_torch()
    state = _loaded(path)
    if not isinstance(state, dict):
        raise UserError(f"{path}: no checkpoint of fairseq's, but a {type(state).__name__}")
    if state.get("args") is not None:
        raise UserError(f"{path}: has its options in a form that fairseq gave up in 2020, and is not loaded")
    for name, kind in PARTS.items():
        if not isinstance(state.get(name), kind):
            raise UserError(f"{path}: no checkpoint of fairseq's; it has no {name}")
    if why := _suspicious(_plain(state["cfg"])):
        raise UserError(f"{path}: {why}; it is not loaded")


#: The parts of a checkpoint that fairseq relies on.
PARTS = {"cfg": Mapping | Namespace, "model": Mapping, "extra_state": Mapping, "optimizer_history": list}


def _loaded(path: Path | str) -> Any:
    """Return what torch reads from a file without running code of it. Raises UserError where it reads nothing."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # torch would wait for a pipe
            raise UserError(f"{path}: not a regular file")
        # memory is mapped: only the small part that is not tensors is read
        return torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except UnpicklingError as error:
        what = "holds more than tensors and plain values, and is not loaded"
        raise UserError(f"{path}: {what}; force=true trains the run afresh") from error
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except (RuntimeError, EOFError, LookupError, ValueError, TypeError, AttributeError) as error:
        # of torch, for TorchScript, for archives of other things, and for damaged ones
        why = str(error).partition("\n")[0]
        raise UserError(f"{path}: no checkpoint ({type(error).__name__}: {why})") from error


def _suspicious(cfg: Mapping[str, Any]) -> str:
    """Return what is wrong with the config of a checkpoint; empty where nothing is."""
    model = _part(cfg, "model")
    if model and not _is_known(_name(model)):
        return f"has the model {_name(model)!r}, which is neither ours nor fairseq's Transformer"
    for kind, known in KNOWN.items():
        if (part := _part(cfg, kind)) and not _name(part).startswith("lnexp_") and _name(part) not in known:
            return f"has the {kind} {_name(part)!r}, which is not known"
    for name, value in _strings(model):
        if CALL.search(value):
            return f"has code for the model's {name}, {value!r}"
    for name, value in _strings(cfg):
        if "${" in value:
            return f"has an interpolation for {name}"
    return ""


def _part(cfg: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = cfg.get(name)
    return part if isinstance(part, Mapping) else {"_name": str(part)} if part else {}


def _name(part: Mapping[str, Any]) -> str:
    return str(part.get("_name") or part.get("arch"))


def _is_known(model: str) -> bool:
    """Return whether a model is ours, or fairseq's Transformer in any size."""
    of_fairseq = ARCH_MODEL_REGISTRY.get(model) is TransformerModel
    return of_fairseq or (model.startswith("lnexp_") and model in MODEL_REGISTRY)


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


def _strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string of a config with its dotted name."""
    match value:
        case str():
            yield name, value
        case Mapping():
            for key, inner in value.items():
                yield from _strings(inner, f"{name}.{key}" if name else key)
        case list():
            for inner in value:
                yield from _strings(inner, name)
