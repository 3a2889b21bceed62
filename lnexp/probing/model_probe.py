"""Probe one model, untrained or from a checkpoint: its hidden states and gradients by layer."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig
from tabulate import tabulate

from lnexp.configuration import check, compose
from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.probing.options import check_options, part_of
from lnexp.processes import one_quiet_thread
from lnexp.runs.code import other_code_warning
from lnexp.runs.folder import RunFolder
from lnexp.tasks import task_of

if TYPE_CHECKING:
    from lnexp.theory.models import ProbedModel

HEADERS = {
    "output": "E‖x‖²/d, output",
    "before_norm": "E‖x‖²/d, input of its FFN norm",
    "grad_norm": "‖E[∂L/∂W]‖_F",
    "mean_grad_norm": "E‖∂L/∂W‖_F",
    **{f"{matrix}_grad_norm": f"‖E[∂L/∂{matrix}]‖_F" for matrix in ("W1", "W2")},
    **{f"{matrix}_mean_grad_norm": f"E‖∂L/∂{matrix}‖_F" for matrix in ("W1", "W2")},
}


@dataclass(frozen=True)
class ProbeReport:
    """The result of probing one model.

    Attributes:
        of: a description of the model and the minibatches.
        rows: a row a layer of each side, or a row a parameter.
    """

    of: str
    rows: Sequence[dict[str, Any]]

    def as_text(self) -> str:
        """Return a title and a table."""
        headers = [HEADERS.get(column, column) for column in self.rows[0]]
        return f"{self.of}\n\n{tabulate([list(row.values()) for row in self.rows], headers, floatfmt='.4g')}"

    def as_json(self) -> str:
        """Return the description and the rows as a JSON object, ``{"of": …, "rows": […]}``."""
        return json.dumps({"of": self.of, "rows": self.rows}, indent=1, ensure_ascii=False, allow_nan=False)


def asks_for_model(options: Sequence[str]) -> bool:
    """Return whether options name one model, as ``model=…`` or ``checkpoint=…``."""
    return any(key_of(option) in ("model", "checkpoint") for option in options)


def probe_model(options: Sequence[str]) -> ProbeReport:
    """Probe the model of ``model=NAME …`` or ``checkpoint=PATH …``.

    Raises:
        UserError: for options that do not go together, and for mistakes in model, checkpoint or parameters.
    """
    own: dict[str, str] = {}
    rest = []
    for option in options:
        key, _, value = option.lstrip("+").partition("=")
        if key not in ("checkpoint", "parameters"):
            rest.append(option)
        elif key in own:
            raise UserError(f"{option}: {key} is given twice")
        else:
            own[key] = value
    cfg = compose(rest)  # before torch is imported, so that mistakes are reported at once
    check(cfg)
    of, probed = _trained(own["checkpoint"], rest, cfg) if "checkpoint" in own else _untrained(rest)
    size = f"at most {cfg.max_tokens} tokens (or the longest sentence's)"
    of = f"{of}; {cfg.probes.batches} minibatches of {size}, without dropout"
    if "parameters" in own:
        return ProbeReport(of, _by_parameter(probed, own["parameters"]))
    from lnexp.theory.by_layer import norms_and_gradients

    return ProbeReport(of, norms_and_gradients(probed))


def _untrained(options: list[str]) -> "tuple[str, ProbedModel]":
    one_quiet_thread()
    from lnexp.theory.models import AS_ANALYSED, sides_of, untrained_model

    cfg = compose([*AS_ANALYSED, *options])
    probed = untrained_model(cfg)
    sides = [getattr(probed.model, side).layers for side in sides_of(probed.model)]
    start = task_of(cfg).start(cfg)
    if start is None:
        _warn_of_another_start(cfg, compose(options), sides)
    depth, width = "-".join(str(len(layers)) for layers in sides), sides[0][0].embed_dim
    begun = f"init={cfg.init}" if start is None else f"from epoch {start.epoch} of {start.run}"
    model = f"{cfg.model._name} {depth}, width {width}, {begun}"
    return f"{model}, before training, seed {cfg.seed}, on {cfg.data.name}", probed


def _warn_of_another_start(cfg: DictConfig, trained: DictConfig, sides: Sequence[Sequence[Any]]) -> None:
    """Say that training would start from other weights, unless every layer's placement states its own."""
    drawn = [layer for layers in sides for layer in layers if layer.placement.starts_from is None]
    if drawn and cfg.init != trained.init:
        how = f"as the paper's analysis does; train.py would start from init={trained.init}, which probe.py takes, too"
        print(f"warning: starts from init={cfg.init}, {how}", file=sys.stderr)


def _trained(path: str, options: list[str], cfg: DictConfig) -> "tuple[str, ProbedModel]":
    check_options(options, ("corpus", "minibatches"), "a checkpoint has its own settings")
    if warning := other_code_warning(RunFolder(Path(path).resolve().parent.parent)):
        print(warning, file=sys.stderr)
    one_quiet_thread()
    from lnexp.theory.checkpoint import trained_model

    corpus = [option for option in options if part_of(option) == "corpus"]
    reordered = any(key_of(option) in ("seed", "order_seed") for option in options)
    if corpus and not any(key_of(option) == "data" for option in corpus):
        raise UserError(f"{corpus[0]}: set data=… too; without it the corpus is the one that the checkpoint names")
    if corpus:
        prepared = task_of(cfg).prepare(cfg.data, cfg.data_dir)
        return f"{path}, on {cfg.data.name}", trained_model(Path(path), prepared.bin, cfg, reordered)
    return f"{path}, on the corpus it was trained on", trained_model(Path(path), None, cfg, reordered)


def _by_parameter(probed: "ProbedModel", option: str) -> list[dict[str, Any]]:
    """Return a row a parameter of ``[NAME,…]``: the norms of its gradient."""
    from lnexp.theory.gradients import gradient_norms
    from lnexp.theory.models import loss_of

    names = [name.strip() for name in option.strip("[]").split(",")]
    norms = gradient_norms(probed.model, names, (loss_of(probed, batch) for batch in probed.batches))
    return [
        {"parameter": name, "grad_norm": norm.expected, "mean_grad_norm": norm.mean} for name, norm in norms.items()
    ]
