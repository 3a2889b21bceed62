"""Write and read ``provenance.json``: the data, machines, settings and commands behind a folder of results."""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, TypeVar, cast

from omegaconf import DictConfig

from lnexp.errors import UNREADABLE, UserError
from lnexp.files import read_regular, write_json
from lnexp.numerics import ENDED, numerics_of
from lnexp.options import Table, key_of
from lnexp.plain import drop, find, plain
from lnexp.recipes.load import MOST
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs.environment import Environment, check_facts
from lnexp.schema import Count, at_most, checked, load_json
from lnexp.tasks import all_tasks, table_of
from lnexp.tasks.contract import Task

Value = TypeVar("Value")

#: Keys of an environment that are a single run's, or private.
OWN = ("array", "host", "data", "code", "earlier_code", "continues")


def chosen(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options of a config that tell runs apart; the rest stands in ``config.yaml``."""
    for name in table_of(config).published():
        if (value := find(config, name)) is not None:
            yield name, value


class RunEntry(TypedDict):
    """One run in ``provenance.json``: the command that trains it, its own settings, the number of its environment."""

    command: str
    settings: dict[str, Any]
    environment: Count


class Plan(TypedDict):
    """Which seeds were planned: the first, and how many."""

    first_seed: Annotated[Count, at_most(2**32)]
    n_seeds: Annotated[Count, at_most(MOST)]


class Content(TypedDict):
    """The content of ``provenance.json``.

    Attributes:
        data: the manifests of all corpora.
        environments: each of them once.
        settings: those that all runs share.
        runs: by identity.
        planned: the seeds that were planned; older files do not say it.
    """

    data: list[dict[str, Any]]
    environments: list[Environment]
    settings: dict[str, Any]
    runs: dict[str, RunEntry]
    planned: NotRequired[Plan]


def of_runs(runs: Sequence[RunResult]) -> Content:
    """Return the provenance of the results of runs, without those that are not over."""
    over = {run.identity: run for run in runs if run.counts}
    by_arm = {id(run.cfg): run.cfg for run in over.values()}
    configs = {arm: plain(cfg) for arm, cfg in by_arm.items()}
    settings = {name: dict(chosen(_seeded(configs[id(run.cfg)], run))) for name, run in over.items()}
    alike = _alike(list(settings.values()))
    environments = [_shared(run.environment) for run in over.values()]
    each = _distinct(environments)
    return {
        "data": _manifests(over.values()),
        "environments": each,
        "settings": alike,
        "runs": {
            name: {
                "command": run.command,
                "settings": {key: value for key, value in settings[name].items() if key not in alike},
                "environment": each.index(environment),
            }
            for (name, run), environment in zip(over.items(), environments, strict=True)
        },
    }


def of_probe(manifest: dict[str, Any] | None, environment: Environment) -> Content:
    """Return the provenance of measurements; ``manifest`` is None where they take no corpus."""
    data = [public_manifest(manifest)] if manifest else []
    return {"data": data, "environments": [_shared(environment)], "settings": {}, "runs": {}}


def write_provenance(folder: Path, content: Content, planned: range) -> None:
    """Write ``provenance.json`` beside the results, with the seeds that were planned for them."""
    whole: Content = {**content, "planned": {"first_seed": planned.start, "n_seeds": len(planned)}}
    write_json(folder / "provenance.json", whole, indent=1, ensure_ascii=False, allow_nan=False)


def recorded_plan(folder: Path, runs: Collection[str] | None = None) -> range | None:
    """Return the seeds that were planned when any of these runs, or a probe, was first collected into a folder.

    It is for recipes and installations whose history git does not know.

    Args:
        folder: of results, which need not be there.
        runs: their identities; None: of a probe, whose measurements have none.
    """
    try:
        before = read_provenance(folder)
    except UserError:
        return None
    return before.planned if runs is None or before.runs.keys() & set(runs) else None


@dataclass(frozen=True)
class Provenance:
    """The content of ``provenance.json``.

    Attributes:
        data: the manifests of all corpora.
        environments: each of them once.
        runs: by identity.
        planned: the seeds that were planned; None in an older file.
    """

    data: list[dict[str, Any]] = field(default_factory=list)
    environments: list[Environment] = field(default_factory=list)
    runs: dict[str, "RunProvenance"] = field(default_factory=dict)
    planned: range | None = None

    @property
    def commits(self) -> set[str]:
        """The commits of the code; where one is not known, one that is younger, if that is known."""
        return commits_of(self.environments)


#: Stands for a commit that is not known.
UNKNOWN = "unknown"


def commits_of(environments: Iterable[Environment]) -> set[str]:
    """Return the commits of the code that environments state, those before a run was resumed included.

    The oldest results state none, and stand for the commit that ended their numerics. Later ones without a commit stand
    for :data:`UNKNOWN`, in whose history git finds no claim.
    """
    commits: set[str] = set()
    for environment in environments:
        commits |= {commit_of(environment) or ENDED.get(numerics_of(environment), UNKNOWN)}
        commits |= set(environment.get("git", {}).get("earlier", []))
    return commits


def commit_of(environment: Environment) -> str | None:
    """Return the commit that an environment states."""
    return environment.get("git", {}).get("commit")


@dataclass(frozen=True)
class RunProvenance:
    """Settings, command and environment of one run.

    Attributes:
        command: trains this run alone.
        settings: the published options that it has, by their dotted names.
        environment: machine and versions; empty where unknown.
    """

    command: str
    settings: dict[str, Any]
    environment: Environment


def read_provenance(folder: Path) -> Provenance:
    """Read ``provenance.json``; an empty provenance where there is no such file.

    Raises:
        UserError: where the file has another form.
    """
    path = folder / "provenance.json"
    if not os.path.lexists(path):
        return Provenance()
    try:
        return _parsed(read_regular(path))
    except UNREADABLE as error:
        raise UserError(f"{path}: malformed ({type(error).__name__}: {error})") from error


@lru_cache(maxsize=64)
def _parsed(text: str) -> Provenance:
    """Return the content of a file by its text, which commands read several times. Nobody changes what is returned."""
    content: Content = checked(Content, load_json(text), "it")
    environments, settings = content["environments"], content["settings"]
    runs = {
        name: RunProvenance(run["command"], settings | run["settings"], environments[run["environment"]])
        for name, run in content["runs"].items()
    }
    plan = content.get("planned")
    planned = range(plan["first_seed"], plan["first_seed"] + plan["n_seeds"]) if plan else None
    return Provenance(list(map(_checked, content["data"])), environments, runs, planned)


def _checked(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest in the form that pages rely on: with ``settings``, and with the size of each split."""
    check_facts(manifest)
    unit_of(manifest)
    return {**manifest, "settings": checked(dict[str, Any], manifest.get("settings", {}), "settings")}


def unit_of(manifest: Mapping[str, Any]) -> str:
    """Return what a corpus is counted in, as ``pairs``: a key of its manifest. Raises LookupError where it has none."""
    units = [task.unit for task in all_tasks() if task.unit in manifest]
    if not units:
        raise KeyError(" or ".join(dict.fromkeys(task.unit for task in all_tasks())))
    return units[0]


def public_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what is private: where files lie on the machine that prepared it."""
    content: dict[str, Any] = json.loads(json.dumps(manifest))
    for of_each_file in ("bytes", "digests"):
        content.pop(of_each_file, None)
    config = {"data": content["settings"]}
    for option in Table().rows:
        if option.locates and "://" not in str(find(config, option.name)):
            drop(config, option.name)
    for source in content.get("sources", {}).values():
        # files of a corpus of one language, or of pairs, are named by their places below a folder: lists or texts
        if isinstance(source, dict) and "://" not in source["address"]:
            source["address"] = Path(source["address"]).name
    return content


def _seeded(config: dict[str, Any], run: RunResult) -> dict[str, Any]:
    """Return a run's config, made from that of another seed of its arm.

    An order of the data that was stated stays, also where it is the other seed's.
    """
    recipe, arm, seed = run.job.recipe, run.job.arm, run.job.seed
    of_profile = recipe.profiles[run.job.profile].overrides if run.job.profile in recipe.profiles else ()
    said = {key_of(override) for override in (*recipe.settings, *of_profile, *arm.overrides, *run.own_options)}
    own_order = "order_seed" in said or config["order_seed"] != config["seed"]
    return config | {"seed": seed, "order_seed": config["order_seed"] if own_order else seed}


def _manifests(runs: Iterable[RunResult]) -> list[dict[str, Any]]:
    each = {(id(run.cfg), json.dumps(run.environment["data"], sort_keys=True)): run for run in runs}
    return _distinct([_manifest(run.task, run.cfg, run.environment["data"]) for run in each.values()])


def _manifest(task: Task, cfg: DictConfig, known: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a run's corpus if it still has the checksums that the run saw, or else ``known``."""
    try:
        manifest = task.manifest(cfg.data, cfg.data_dir)
    except UserError:
        return known
    return public_manifest(manifest) if manifest["sha256"] == known.get("sha256") else known


def _shared(environment: Environment) -> Environment:
    return cast(Environment, {key: value for key, value in environment.items() if key not in OWN})


def _alike(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings that all have, with one value."""
    first, *others = settings or [{}]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _distinct(values: list[Value]) -> list[Value]:
    return [value for place, value in enumerate(values) if value not in values[:place]]
