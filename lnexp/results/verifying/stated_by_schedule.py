"""Hold the learning rates and update numbers of a run's epochs against its schedule and its length.

The schedules are stated a second time here: tables are read without fairseq, and what made a number cannot check it.
"""

import math
from functools import cache
from typing import Any

from lnexp.paths import CONFIG_DIR
from lnexp.plain_yaml import load_yaml
from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.verifying.stated_by_settings import asked_by_command
from lnexp.tasks.contract import Record


def denied_by_schedule(run: PublishedRun) -> list[str]:
    """Return ``lr`` where an epoch states another rate than the schedule gives at its last update, and ``update`` where
    epochs are not of one number of updates.

    Nothing is said of schedules that are not the project's own.
    """
    if not run.epochs:
        return []
    name = str(run.end.get("lr_schedule")).partition(" ")[0]
    wrong = [] if name not in DECAYS or all(_has_its_rate(run, name, record) for record in run.epochs) else ["lr"]
    return [*wrong, *([] if _has_equal_epochs(run) else ["update"])]


def _has_its_rate(run: PublishedRun, name: str, record: Record) -> bool:
    decay = DECAYS[name](run, record)
    warm = warmed_up(record["update"], run.settings["warmup_updates"])
    lr: float | None = record["lr"]
    return lr is not None and (decay is None or math.isclose(lr, run.settings["lr_max"] * warm * decay, rel_tol=1e-6))


def warmed_up(update: int, warmup_updates: int) -> float:
    """Return the factor on lr_max by the warm-up, at an update from 1."""
    return min(update / warmup_updates, 1.0)


def inverse_sqrt(update: int, start: int) -> float:
    """Return the factor on lr_max by a decay with the inverse square root that begins at an update."""
    return math.sqrt(start / max(update, start))


def _inverse_sqrt(run: PublishedRun, record: Record) -> float:
    coupled = run.settings["lr_schedule.form"] == "coupled"
    return inverse_sqrt(record["update"], run.settings["warmup_updates" if coupled else "lr_schedule.decay_from"])


def _linear(run: PublishedRun, record: Record) -> float:
    settings, asked = run.settings, asked_by_command(run)
    end = asked.get("lr_schedule.total_updates") or _length(run)
    return min(1.0, max(0.0, (end - record["update"]) / (end - settings["warmup_updates"])))


def _step(run: PublishedRun, record: Record) -> float | None:
    """Return the factor at an epoch's end; None where the decay began at an update that no record has."""
    first = run.settings["lr_schedule.decay_epoch"]
    if record["epoch"] < first:
        return 1.0
    options = _defaults("step") | {
        name.removeprefix("lr_schedule."): value for name, value in asked_by_command(run).items()
    }
    if options["then"] != "inverse_sqrt":
        return float(options["factor"])
    began = {0: 0, **{one["epoch"]: one["update"] for one in run.epochs}}.get(first - 1)
    return None if began is None else float(options["factor"]) * math.sqrt((began + 1) / record["update"])


@cache
def _defaults(name: str) -> dict[str, Any]:
    """Return what the file of a schedule states."""
    content: dict[str, Any] = load_yaml((CONFIG_DIR / "lr_schedule" / f"{name}.yaml").read_text(encoding="utf-8"))
    return content


#: The factor on ``lr_max`` at the end of an epoch, the warm-up aside, by schedule.
DECAYS = {"constant": lambda run, record: 1.0, "inverse_sqrt": _inverse_sqrt, "linear": _linear, "step": _step}


def _length(run: PublishedRun) -> float:
    """Return the updates of the whole run."""
    first = run.epochs[0]
    epochs = run.settings.get("max_epoch") or math.inf
    return min(epochs * first["update"] / first["epoch"], run.settings.get("max_update") or math.inf)


def _has_equal_epochs(run: PublishedRun) -> bool:
    """Return whether all epochs have as many updates as the first, but for a last one that ends the run before.

    An update can fail in fp16, and fairseq's own options can make an epoch of other batches.
    """
    if run.settings.get("precision") == "fp16" or "fairseq." in run.command:
        return True
    first, last = run.epochs[0], run.epochs[-1]
    each = first["update"] / first["epoch"]
    ended = last["update"] == run.settings.get("max_update") and last["update"] <= each * last["epoch"]
    whole = run.epochs[:-1] if ended else run.epochs
    return all(record["update"] == each * record["epoch"] for record in whole)
