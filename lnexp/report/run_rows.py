"""The table of runs: those that results are made of, and all that lie in ``runs/``, whatever state they are in."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lnexp.report.sections import PLACES, Section
from lnexp.report.unreadable import plainly, what_is_wrong
from lnexp.results.provenance import RunProvenance, chosen
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import name_of
from lnexp.runs.progress import state_of

#: By these columns a folder is known as the one that published numbers came from: no two runs take the very same time.
ITSELF = ("epochs", "seconds")
#: libyaml dies of what is nested more than some twenty thousand times; a config has four thousand characters.
LONGEST_CONFIG = 20_000


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
    """Every run of a place once, by its identity, and every folder, once where a place's numbers come from it.

    A folder of ours with the identity of another machine's run is another run: an identity says what was to be trained.
    """
    found = Runs()
    rows = _published_rows(sections, found.problems)
    for identity, path in find_folders(runs_dir).items():
        try:
            read = {key: value for key, value in plainly(_read(RunFolder(path), runs_dir)).items() if value is not None}
        except Exception as error:
            found.problems.append(what_is_wrong(path, error))
            read = {"run": path.name, "state": "malformed", "why": type(error).__name__}
        same = [row for row in rows if row["identity"] == identity and all(row[key] == read.get(key) for key in ITSELF)]
        for row in same:
            row |= read
        if not same:
            rows.append({"identity": identity} | read)
    environments: dict[str, int] = {}
    for row in rows:
        row["asked for by"] = "; ".join(row.get("asked for by", []))
        if environment := plainly(row.pop("environment", {})):
            row["environment"] = environments.setdefault(json.dumps(environment, sort_keys=True), len(environments))
        found.rows.append(plainly(row))
    found.environments.extend(map(json.loads, environments))
    return found


def _published_rows(sections: Sequence[Section], problems: list[str]) -> list[dict[str, Any]]:
    """Every run of a place once, whichever recipes ask for it."""
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for section in sections:
        try:
            for run in section.runs:
                if run["epochs"]:
                    place = {"place": PLACES[section.place], "asked for by": []}
                    told = _published(run, section.provenance.runs.get(run["identity"]))
                    row = rows.setdefault((section.place, run["identity"]), told | place)
                    row["asked for by"].append(f"{run['recipe']}: {run['arm']}")
        except Exception as error:
            problems.append(what_is_wrong(section.folder / "runs.csv", error))
    return list(rows.values())


def _published(run: dict[str, Any], known: RunProvenance | None) -> dict[str, Any]:
    """What ``runs.csv`` says, and ``provenance.json`` where it knows the run."""
    settings = {key: run[key] for key in ("lr_max", "warmup_updates", "lr_schedule", "seed")}
    schedule = str(run["lr_schedule"]).partition(" ")[0]
    norm = known.settings.get("norm.kind", "layer_norm") if known else "layer_norm"
    name = name_of(run["model"], norm, run["optimizer"], run["lr_max"], run["warmup_updates"], schedule, run["seed"])
    return {
        "identity": run["identity"],
        "run": f"{name}-{run['identity']}",
        "state": run["status"],
        "epochs": run["epochs"],
        "best BLEU": run["best_valid_bleu"],
        "test BLEU": run["test_bleu"],
        "tokens/s": run.get("tokens_per_second"),
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
        "seconds": records.seconds(epochs),
        "tokens/s": epochs[-1].get("tokens_per_second") if epochs else None,
        "device": environment.get("device"),
        "settings": dict(chosen(config)),
        "environment": environment or None,
    }


def _config(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    if len(text) > LONGEST_CONFIG:
        raise ValueError(f"{path.name}: {len(text):,} characters are no config of ours")
    return yaml.load(text, yaml.CSafeLoader)
