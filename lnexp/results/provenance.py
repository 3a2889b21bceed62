"""``provenance.json``: the data, the machines, and every run's settings and command, behind a folder of results."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus, corpus_folder
from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.plain import plain
from lnexp.results.collect import RunResult

#: What of a config tells runs apart; the rest stands in ``config.yaml``.
SETTINGS = (
    "profile", "data.name", "norm.kind", "lr_max", "warmup_updates", "seed", "order_seed", "max_epoch", "max_tokens",
    "update_freq", "precision", "init", "label_smoothing", "clip_norm", "model.encoder_layers", "model.decoder_layers",
    "model.encoder_embed_dim", "model.encoder_ffn_embed_dim", "model.encoder_attention_heads", "model.dropout",
    "optimizer.betas", "optimizer.weight_decay", "lr_schedule.form", "lr_schedule.decay_from",
    "lr_schedule.decay_epoch", "evaluation.test_beam", "evaluation.lenpen",
)  # fmt: skip

#: What of an environment is one run's, or nobody's business.
OWN = ("array", "host", "data")


def chosen(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Those of :data:`SETTINGS` that a config has."""
    for setting in SETTINGS:
        value: Any = config
        for key in setting.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            yield setting, value


def of_runs(runs: Sequence[RunResult]) -> dict[str, Any]:
    """What stands behind the results of runs, those that are not over left out.

    Returns:
        ``data``: the manifests of all corpora; ``environments``: all that there are; ``settings``: those that all runs
        have alike; ``runs``: by identity the command that trains it, its other settings, the number of its environment.
    """
    over = {run.identity: run for run in runs if run.counts}
    by_arm = {id(run.cfg): run.cfg for run in over.values()}
    configs = {arm: plain(cfg) for arm, cfg in by_arm.items()}
    settings = {name: dict(chosen(_seeded(configs[id(run.cfg)], run.job.seed))) for name, run in over.items()}
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


def of_probe(manifest: dict[str, Any] | None, environment: dict[str, Any]) -> dict[str, Any]:
    """The same of measurements before training, which may take no corpus."""
    data = [for_readers(manifest)] if manifest else []
    return {"data": data, "environments": [_shared(environment)], "settings": {}, "runs": {}}


def write_provenance(folder: Path, content: dict[str, Any]) -> None:
    """Write ``provenance.json`` beside the results."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "provenance.json", text + "\n")


@dataclass(frozen=True)
class Provenance:
    """What ``provenance.json`` says.

    Attributes:
        data: the manifests of all corpora.
        environments: all that there are.
        runs: by identity.
    """

    data: list[dict[str, Any]] = field(default_factory=list)
    environments: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, "RunProvenance"] = field(default_factory=dict)


@dataclass(frozen=True)
class RunProvenance:
    """How one run came about.

    Attributes:
        command: what trains it alone.
        settings: those of :data:`SETTINGS` that it has, by their dotted names.
        environment: what it ran on and with; empty where unknown.
    """

    command: str
    settings: dict[str, Any]
    environment: dict[str, Any]


def read_provenance(folder: Path) -> Provenance:
    """What stands beside results; nothing where nothing does.

    Raises:
        LookupError, TypeError, ValueError: for a file that is not ours.
    """
    path = folder / "provenance.json"
    if not path.exists():
        return Provenance()
    content = json.loads(path.read_text(encoding="utf-8"))
    environments = [dict(environment) for environment in content["environments"]]
    runs = {
        str(name): RunProvenance(
            str(run["command"]), {**content["settings"], **run["settings"]}, environments[run["environment"]]
        )
        for name, run in dict(content["runs"]).items()
    }
    return Provenance(list(map(_checked, content["data"])), environments, runs)


def _checked(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest as pages take it for granted."""
    pairs = {str(split): int(count) for split, count in manifest["pairs"].items()}
    return {**manifest, "settings": dict(manifest.get("settings", {})), "pairs": pairs}


def for_readers(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest without what is another person's own affair: where files of theirs lie."""
    content: dict[str, Any] = json.loads(json.dumps(manifest))
    content.pop("bytes", None)
    content["settings"].pop("path", None)
    content["settings"]["text"].pop("root", None)
    for source in content.get("sources", {}).values():
        if "://" not in source["address"]:
            source["address"] = Path(source["address"]).name
    return content


def _seeded(config: dict[str, Any], seed: int) -> dict[str, Any]:
    """A run's config, from that of another seed of its arm."""
    own_order = config["order_seed"] != config["seed"]
    return config | {"seed": seed, "order_seed": config["order_seed"] if own_order else seed}


def _manifests(runs: Iterable[RunResult]) -> list[dict[str, Any]]:
    each = {(id(run.cfg), json.dumps(run.environment["data"], sort_keys=True)): run for run in runs}
    return _distinct([_manifest(run.cfg, run.environment["data"]) for run in each.values()])


def _manifest(cfg: DictConfig, known: dict[str, Any]) -> dict[str, Any]:
    """That of a run's corpus where it still has the checksums that the run saw; else what the run knows."""
    try:
        manifest = PreparedCorpus(corpus_folder(cfg.data, cfg.data_dir)).manifest
    except UserError:
        return known
    return for_readers(manifest) if manifest["sha256"] == known.get("sha256") else known


def _shared(environment: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in environment.items() if key not in OWN}


def _alike(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """What stands in all, with one value."""
    first, *others = settings or [{}]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _distinct(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [value for place, value in enumerate(values) if value not in values[:place]]
