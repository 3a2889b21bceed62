"""The table of runs: those that results are made of, and all that lie in ``runs/``, whatever state they are in."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lnexp.report.sections import MALFORMED, PLACES, Section
from lnexp.results.provenance import RunProvenance, chosen
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.progress import state_of


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
    """Every run of a place once, by its identity; what our own folders say goes before what our results say of it."""
    found = Runs()
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for section in sections:
        for run in section.runs:
            if run["epochs"]:
                known = section.provenance.runs.get(run["identity"])
                row = rows.setdefault((section.place, run["identity"]), _published(run, known) | {"asked for by": []})
                row["asked for by"].append(f"{run['recipe']}: {run['arm']}")
    for identity, path in find_folders(runs_dir).items():
        row = rows.setdefault((0, identity), {"run": path.name})
        try:
            read = plainly(_read(RunFolder(path), runs_dir))
        except (*MALFORMED, yaml.YAMLError) as error:
            found.problems.append(f"{path}: {type(error).__name__}: {' '.join(str(error).split())}")
            row |= {"state": "malformed", "why": type(error).__name__}
            continue
        row |= {key: value for key, value in read.items() if value is not None}
    environments: dict[str, int] = {}
    for (place, identity), row in rows.items():
        row["asked for by"] = "; ".join(row.get("asked for by", []))
        if environment := plainly(row.pop("environment", {})):
            row["environment"] = environments.setdefault(json.dumps(environment, sort_keys=True), len(environments))
        found.rows.append(plainly({"place": PLACES[place], "identity": identity, **row}))
    found.environments.extend(map(json.loads, environments))
    return found


def plainly(value: Any) -> Any:
    """What JSON can say of a value: other things as text, and nothing of what is not finite."""
    if isinstance(value, dict):
        return {str(key): plainly(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plainly(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _published(run: dict[str, Any], known: RunProvenance | None) -> dict[str, Any]:
    """What ``runs.csv`` says, and ``provenance.json`` where it knows the run."""
    settings = {key: run[key] for key in ("lr_max", "warmup_updates", "lr_schedule", "seed")}
    short = f"lr{run['lr_max']:g}", f"w{run['warmup_updates']}", run["lr_schedule"], f"s{run['seed']}"
    return {
        "run": "-".join(map(str, (run["model"], run["optimizer"], *short))),
        "state": run["status"],
        "epochs": run["epochs"],
        "best BLEU": run["best_valid_bleu"],
        "test BLEU": run["test_bleu"],
        "seconds": run["seconds"],
        "data": run.get("trained_on"),
        "device": run.get("device"),
        "settings": known.settings if known else settings,
        **({"command": known.command, "environment": known.environment} if known else {}),
    }


def _read(folder: RunFolder, runs_dir: Path) -> dict[str, Any]:
    """What a run's own folder says of it, its environment without what differs from run to run."""
    environment, read = folder.environment, records.read(folder.metrics)
    if not isinstance(environment.get("git", {}), dict):
        raise ValueError("environment.json: git is no object")
    config = _config(folder.path / "config.yaml")
    epochs = [record for record in read if record["kind"] == "epoch"]
    ends = [record for record in read if record["kind"] == "end"]
    bleu = [record["valid_bleu"] for record in epochs if record["valid_bleu"] is not None]
    state, why = state_of(folder, runs_dir)
    environment.pop("array", None)
    return {
        "run": folder.name,
        "state": state,
        "why": why or None,
        "epochs": len(epochs),
        "best BLEU": max(bleu, default=None),
        "test BLEU": ends[0].get("test_bleu") if ends else None,
        "seconds": round(sum(record["seconds"] or 0 for record in epochs), 1),
        "tokens/s": epochs[-1].get("tokens_per_second") if epochs else None,
        "device": environment.get("device"),
        "settings": dict(chosen(config)),
        "environment": environment or None,
    }


def _config(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
