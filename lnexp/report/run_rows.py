"""The table of runs: those that results are made of, and all that lie in ``runs/``, whatever state they are in."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lnexp.errors import UserError
from lnexp.report.sections import Section
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import short_name

#: What of a config tells runs apart; the rest stands in ``config.yaml``.
SETTINGS = (
    "profile", "data.name", "norm.kind", "lr_max", "warmup_updates", "seed", "order_seed", "max_epoch", "max_tokens",
    "update_freq", "precision", "init", "label_smoothing", "clip_norm", "model.encoder_layers", "model.decoder_layers",
    "model.encoder_embed_dim", "model.encoder_ffn_embed_dim", "model.encoder_attention_heads", "model.dropout",
    "optimizer.betas", "optimizer.weight_decay", "lr_schedule.form", "lr_schedule.decay_from",
    "lr_schedule.decay_epoch", "evaluation.test_beam", "evaluation.lenpen",
)  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """What the page says of runs.

    Attributes:
        rows: one a run, by column; ``environment`` is a number in :attr:`environments`.
        environments: those that there are, each once.
        problems: of the folders that cannot be read.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    environments: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def gather(sections: Sequence[Section], runs_dir: Path) -> Runs:
    """Every run once, by its identity; what its folder says goes before what results say of it."""
    found = Runs()
    rows = {run["identity"]: _published(run) for section in sections for run in section.runs if run["epochs"]}
    environments: dict[str, int] = {}
    for identity, path in find_folders(runs_dir).items():
        try:
            row, environment = _read(RunFolder(path))
        except (UserError, OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            found.problems.append(f"{path}: {type(error).__name__}: {' '.join(str(error).split())}")
            rows[identity] = {"run": path.name, "state": "malformed"}
            continue
        text = json.dumps(environment, sort_keys=True)
        row["environment"] = environments.setdefault(text, len(environments)) if environment else None
        rows[identity] = rows.get(identity, {}) | {key: value for key, value in row.items() if value is not None}
    found.rows.extend({"identity": identity, **row} for identity, row in rows.items())
    found.environments.extend(json.loads(text) for text in environments)
    return found


def _published(run: dict[str, Any]) -> dict[str, Any]:
    """What ``runs.csv`` says."""
    settings = {key: run[key] for key in ("lr_max", "warmup_updates", "lr_schedule", "seed")}
    return {
        "run": f"{run['recipe']}: {run['arm']}, seed {run['seed']}",
        "model": run["model"],
        "optimizer": run["optimizer"],
        "state": run["status"],
        "epochs": run["epochs"],
        "best BLEU": run["best_valid_bleu"],
        "test BLEU": run["test_bleu"],
        "seconds": run["seconds"],
        "data": run.get("trained_on"),
        "device": run.get("device"),
        "settings": settings,
    }


def _read(folder: RunFolder) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a run's own folder says of it, and its environment without what differs from run to run."""
    status, epochs, environment = folder.status, folder.epochs(), folder.environment
    config = _config(folder.path / "config.yaml")
    bleu = [record["valid_bleu"] for record in epochs if record["valid_bleu"] is not None]
    row = {
        "run": folder.name,
        "model": short_name(config["model"]["_name"]),
        "optimizer": short_name(config["optimizer"]["_name"]),
        "state": status.get("state", "waiting"),
        "why": status.get("why") or None,
        "epochs": len(epochs),
        "best BLEU": max(bleu, default=None),
        "seconds": round(sum(record["seconds"] for record in epochs), 1),
        "tokens/s": epochs[-1].get("tokens_per_second") if epochs else None,
        "device": environment.get("device"),
        "settings": dict(_chosen(config)),
    }
    environment.pop("array", None)
    return row, environment


def _config(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def _chosen(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for setting in SETTINGS:
        value: Any = config
        for key in setting.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            yield setting, value
