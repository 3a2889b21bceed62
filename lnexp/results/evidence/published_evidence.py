"""Read runs and probes from the tables of a folder of results, so that claims can be judged without run folders."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from lnexp.plain import nested
from lnexp.recipes.jobs import Job
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table
from lnexp.results.evidence.contract import Evidence
from lnexp.results.evidence.probe_result import ProbeResult
from lnexp.results.evidence.provenance import RunProvenance, read_provenance
from lnexp.runs.environment import Environment
from lnexp.runs.status import DONE
from lnexp.tasks.contract import Record

#: Columns that say which run a row is of.
WHICH = ("recipe", "arm", "seed", "identity")


@dataclass(frozen=True)
class PublishedRun:
    """A run as the tables of its folder of results have it, with all that measures are computed from.

    Attributes:
        job: which arm and seed.
        identity: names the run.
        state: as in ``runs.csv``.
        is_the_papers: whether it has the paper's settings, on the paper's whole corpus.
        settings: its published settings, by dotted name.
        command: trains it alone; empty where unknown.
        epochs, probes: its records, oldest first.
        early: its rows of ``early.csv``, oldest first; few recipes have this table.
        updates, snapshots: empty; tables have only the measures that are made of them, in ``end``.
        end: its row of ``runs.csv``, which has the numbers of its end record.
        environment: what it ran on, as far as ``provenance.json`` says it.
    """

    job: Job
    identity: str
    state: str
    is_the_papers: bool
    settings: dict[str, Any]
    epochs: list[Record]
    probes: list[Record]
    early: list[Record]
    end: Record
    updates: list[Record] = field(default_factory=list)
    snapshots: list[Record] = field(default_factory=list)
    environment: Environment = field(default_factory=Environment)
    command: str = ""

    @cached_property
    def cfg(self) -> DictConfig:
        """Its settings as a config; made when asked for, because most measures need none."""
        return OmegaConf.create(nested(self.settings))

    @property
    def counts(self) -> bool:
        return self.state in DONE

    @property
    def diverged(self) -> bool:
        return self.state == "diverged"


def published_evidence(recipe: Recipe, folder: Path, papers: bool) -> list[Evidence]:
    """Return what a folder of results has on the arms of its recipe.

    Args:
        recipe: the recipe, whose claims may have changed since.
        folder: ``<profile>/<data>/<recipe>``.
        papers: whether it is of the paper's model on the paper's corpus.
    """
    profile, data, _ = folder.resolve().parts[-3:]
    if recipe.measurement:
        table = read_table(folder / "measurements.csv")
        return [
            ProbeResult(Job(recipe, profile, recipe.arms[arm], seed), rows, papers, data)
            for (arm, seed, _), rows in _by_run(table).items()
            if arm in recipe.arms
        ]
    tables = [_by_run(read_table(path)) if (path := folder / name).exists() else {} for name in RECORDS]
    made = read_provenance(folder).runs
    runs: list[Evidence] = []
    for row in read_table(folder / "runs.csv").to_dict("records"):
        run = (row["arm"], row["seed"], identity := row["identity"])
        if row["arm"] in recipe.arms:
            job = Job(recipe, profile, recipe.arms[row["arm"]], row["seed"])
            records = (tables[0].get(run, []), tables[1].get(run, []), tables[2].get(run, []))
            mine = made.get(identity, RunProvenance("", {}, Environment()))
            known = (mine.settings, *records, _known(row))
            state, by = row["status"], mine.environment
            runs.append(PublishedRun(job, identity, state, papers, *known, command=mine.command, environment=by))
    return runs


RECORDS = ("epochs.csv", "probes.csv", "early.csv")


def _by_run(table: pd.DataFrame) -> dict[tuple[str, int, str | None], list[Record]]:
    """Return the rows of a table by arm, seed and identity, in their order; measurements have no identity."""
    rows: dict[tuple[str, int, str | None], list[Record]] = {}
    measured = [column for column in table.columns if column not in WHICH]
    sparse = not {"epoch", "update", "valid_loss"} <= set(measured)
    for row in table.to_dict("records"):
        values = {str(column): None if pd.isna(row[column]) else row[column] for column in measured}
        rows.setdefault((row["arm"], row["seed"], row.get("identity")), []).append(_known(values) if sparse else values)
    return rows


def _known(row: Mapping[Any, Any]) -> Record:
    """Return a row without the columns that it has no value in."""
    return {str(key): value for key, value in row.items() if not pd.isna(value)}
