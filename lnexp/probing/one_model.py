"""One model looked at, before training or as its checkpoint has it: hidden states and gradients by layer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig
from tabulate import tabulate

from lnexp.configuration import check, compose
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.probing.one_thread import one_quiet_thread

#: What can be said beside a checkpoint: the corpus and the minibatches; the model is its own.
CORPUS = ("data", "data_dir", "subword", "scale")
MINIBATCHES = ("probes.batches", "max_tokens", "order_seed", "seed")
HEADERS = {
    "output": "E‖x‖²/d, output",
    "before_norm": "E‖x‖²/d, before its last norm",
    "grad_norm": "‖E[∂L/∂W]‖_F",
    "mean_grad_norm": "E‖∂L/∂W‖_F",
    **{f"{matrix}_grad_norm": f"‖E[∂L/∂{matrix}]‖_F" for matrix in ("W1", "W2")},
    **{f"{matrix}_mean_grad_norm": f"E‖∂L/∂{matrix}‖_F" for matrix in ("W1", "W2")},
}


@dataclass(frozen=True)
class Look:
    """What was seen in one model.

    Attributes:
        of: the model, in words.
        rows: one a layer of each side, or one a parameter.
    """

    of: str
    rows: Sequence[dict[str, Any]]

    def as_text(self) -> str:
        """A title and a table."""
        headers = [HEADERS.get(column, column) for column in self.rows[0]]
        return f"{self.of}\n\n{tabulate([list(row.values()) for row in self.rows], headers, floatfmt='.4g')}"

    def as_json(self) -> str:
        """The same for programs."""
        return json.dumps({"of": self.of, "rows": self.rows}, indent=1, ensure_ascii=False, allow_nan=False)


def is_of_one_model(options: Sequence[str]) -> bool:
    """Whether options ask for one model."""
    return any(key in ("model", "checkpoint") for key in map(_key, options))


def look(options: Sequence[str]) -> Look:
    """What ``model=NAME …`` or ``checkpoint=PATH …`` asks for.

    Raises:
        UserError: for options that do not go together, and whatever is wrong with model, checkpoint or parameters.
    """
    own = {_key(option): option for option in options if _key(option) in ("checkpoint", "parameters")}
    rest = [option for option in options if option not in own.values()]
    cfg = compose(rest)  # before torch is imported: a mistake is answered at once
    check(cfg)
    of, probed = _trained(_value(own["checkpoint"]), rest, cfg) if "checkpoint" in own else _untrained(rest)
    of = f"{of}; {cfg.probes.batches} minibatches of at most {cfg.max_tokens} tokens"
    rows = _of_parameters(probed, _value(own["parameters"])) if "parameters" in own else _by_layer(probed)
    return Look(of, rows)


def _untrained(options: list[str]) -> tuple[str, Any]:
    one_quiet_thread()
    from lnexp.theory.models import AS_ANALYSED, at_initialisation

    cfg = compose([*AS_ANALYSED, *options])
    return f"{cfg.model._name} before training, seed {cfg.seed}, on {cfg.data.name}", at_initialisation(cfg)


def _trained(path: str, options: list[str], cfg: DictConfig) -> tuple[str, Any]:
    for option in options:
        if _key(option) not in (*CORPUS, *MINIBATCHES) and _key(option).partition(".")[0] not in CORPUS:
            allowed = ", ".join(f"{name}=…" for name in (*CORPUS, *MINIBATCHES))
            raise UserError(f"{option}: a checkpoint brings its own; what can be said is {allowed}")
    one_quiet_thread()
    from lnexp.theory.checkpoint import trained

    if any(_key(option) == "data" for option in options):
        return f"{path}, on {cfg.data.name}", trained(Path(path), prepare(cfg.data, cfg.data_dir).bin, cfg)
    return f"{path}, on the corpus it was trained on", trained(Path(path), None, cfg)


def _of_parameters(probed: Any, names: Any) -> list[dict[str, Any]]:
    from lnexp.theory.gradients import gradient_norms
    from lnexp.theory.models import loss_of

    if not isinstance(names, list) or not names:
        raise UserError(f"parameters={names}: must be a list of names, as [decoder.layers.5.fc2.weight]")
    norms = gradient_norms(probed.model, names, (loss_of(probed, batch) for batch in probed.batches))
    return [
        {"parameter": name, "grad_norm": norm.expected, "mean_grad_norm": norm.mean} for name, norm in norms.items()
    ]


def _by_layer(probed: Any) -> list[dict[str, Any]]:
    """A row a layer: hidden states, then the gradients of both FFN matrices."""
    from lnexp.theory.ffn_gradients import MATRICES, ffn_gradients
    from lnexp.theory.position_norms import mean_norms

    gradients = {(row["side"], row["layer"], row["parameter"]): row for row in ffn_gradients(probed)}
    return [
        row
        | {
            f"{matrix}_{what}": gradients[row["side"], row["layer"], matrix][what]
            for matrix in MATRICES
            for what in ("grad_norm", "mean_grad_norm")
        }
        for row in mean_norms(probed)
    ]


def _key(option: str) -> str:
    return option.lstrip("+").partition("=")[0]


def _value(option: str) -> Any:
    """As Hydra reads it; quotes of a string are gone, those in a list, too."""
    value = OverridesParser.create().parse_override(option).value()
    return [str(one) for one in value] if isinstance(value, list) else str(value)
