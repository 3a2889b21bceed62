"""Gather the table of runs: those behind published results, and all folders of runs, whatever their state."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lnexp.report.robust import plainly, what_is_wrong
from lnexp.report.sections import PLACES, Section
from lnexp.results.evidence.provenance import RunProvenance, chosen
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders, misnamed_folders
from lnexp.runs.identity import name_of
from lnexp.runs.progress import state_of
from lnexp.runs.status import DONE
from lnexp.tasks import task_of
from lnexp.tasks.contract import Score
from lnexp.tasks.measures import known_values

#: Columns by which a folder is recognised as the source of published numbers: no two runs take exactly the same time.
ITSELF = ("epochs", "seconds")


@dataclass(frozen=True)
class Runs:
    """The table of runs.

    Attributes:
        rows: one a run, by column; ``environment`` is a number in :attr:`environments`.
        scores: the columns that hold scores, with their decimal places.
        environments: those that there are, each once.
        problems: of the folders that cannot be read.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    environments: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def gather(sections: Sequence[Section], runs_dir: Path | None) -> Runs:
    """Return every run of a place once, by its identity, and every folder; one row for a folder that is such a run.

    Args:
        sections: of all places.
        runs_dir: where run folders lie; None for the runs of the places alone.

    A folder with the identity of a published run may be another run, on another machine: an identity says what was to
    be trained.
    """
    found = Runs()
    rows = _published_rows(sections, found)
    folders = find_folders(runs_dir) if runs_dir else {}
    found.problems.extend(misnamed_folders(runs_dir) if runs_dir else [])
    for identity, path in folders.items():
        try:
            read = {
                key: value
                for key, value in plainly(_read(RunFolder(path), path.parents[1], found)).items()
                if value is not None
            }
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


def _published_rows(sections: Sequence[Section], found: Runs) -> list[dict[str, Any]]:
    """Return every run of a place once, whichever recipes ask for it; add columns and problems to ``found``."""
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for section in sections:
        try:
            for run in section.runs:
                if (run["epochs"] or run["status"] in DONE) and section.task:
                    score = section.task.score
                    place = {"place": PLACES[section.place], "asked for by": []}
                    scores = _scores(found, score, run[score.best], run[score.test])
                    told = _published(run, scores, section.provenance.runs.get(run["identity"]))
                    row = rows.setdefault((section.place, run["identity"]), told | place)
                    row["asked for by"].append(f"{run['recipe']}: {run['arm']}")
        except Exception as error:
            found.problems.append(what_is_wrong(section.folder / "runs.csv", error))
    return list(rows.values())


def _scores(found: Runs, score: Score, best: float | None, test: float | None) -> dict[str, float | None]:
    """Return the columns of a run's scores, and add their heads to ``found``."""
    columns = {f"best {score.title}": best, f"test {score.title}": test}
    found.scores.update(dict.fromkeys(columns, score.places + 1))
    return columns


def _published(run: dict[str, Any], scores: dict[str, Any], known: RunProvenance | None) -> dict[str, Any]:
    """Return a row from ``runs.csv``, and from ``provenance.json`` where it has the run."""
    settings = {key: run[key] for key in ("lr_max", "warmup_updates", "lr_schedule", "seed")}
    schedule = str(run["lr_schedule"]).partition(" ")[0]
    norm = known.settings.get("norm.kind", "layer_norm") if known else "layer_norm"
    name = name_of(run["model"], norm, run["optimizer"], run["lr_max"], run["warmup_updates"], schedule, run["seed"])
    return {
        "identity": run["identity"],
        "run": f"{name}-{run['identity']}",
        "state": run["status"],
        "epochs": run["epochs"],
        **scores,
        "tokens/s": run.get("tokens_per_second"),
        "seconds": run["seconds"],
        "data": run.get("trained_on"),
        "device": run.get("device"),
        "settings": known.settings if known else settings,
        **({"command": known.command, "environment": known.environment} if known else {}),
    }


def _read(folder: RunFolder, runs_dir: Path, found: Runs) -> dict[str, Any]:
    """Return a row from a run's folder, its environment without what differs from run to run."""
    environment, read = folder.environment, records.read(folder.metrics)
    if not isinstance(environment.get("git", {}), dict):
        raise ValueError("environment.json: git is no object")
    config = folder.config
    if not config:
        raise ValueError("config.yaml: missing")
    epochs, ends = records.of_kind("epoch", read), records.of_kind("end", read)
    score = task_of(config).score
    best = max(known_values(epochs, score.valid), default=None)
    test = ends[0].get(score.test) if ends else None
    state, why = state_of(folder, runs_dir, read)
    environment.pop("array", None)
    return {
        "run": folder.name,
        "state": state,
        "why": why or None,
        "epochs": len(epochs),
        **_scores(found, score, best, test),
        "seconds": records.seconds(epochs),
        "tokens/s": epochs[-1].get("tokens_per_second") if epochs else None,
        "device": environment.get("device"),
        "settings": dict(chosen(config)),
        "environment": environment or None,
    }
