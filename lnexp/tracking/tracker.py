"""Track a run in wandb, from its own records."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.addresses import check_address
from lnexp.errors import UserError, first_line
from lnexp.paths import ADHOC
from lnexp.plain import plain
from lnexp.runs import records
from lnexp.runs.environment import git_state
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import short_name
from lnexp.tasks import task_of
from lnexp.tasks.contract import Record, Task
from lnexp.tasks.measures import known_values
from lnexp.tracking.offline_runs import link_offline_run

#: The longest tag that wandb takes, in characters.
LONGEST_TAG = 64
GRADIENT_COLUMNS: list[str | int] = ["update", "side", "layer", "parameter", "grad_norm", "line"]


class Tracker:
    """A wandb run whose id is the run's identity, so that a resumed run stays one run; a context manager.

    ``tracker.mode`` is wandb's: offline writes into the run folder, online needs the user's key, disabled does nothing.
    The records of a resumed run are logged again where wandb does not have them. Offline these are all records, unless
    the run's beginning was uploaded: records after the checkpoint that it resumes from would then be there twice.
    Online they are those from the step on that wandb states.
    """

    def __init__(self, cfg: DictConfig, folder: RunFolder):
        self.cfg, self.folder = cfg, folder
        self.run: Any = None

    def __enter__(self) -> "Tracker":
        if self.cfg.tracker.mode == "disabled":
            return self
        if self.cfg.tracker.mode == "online" and (server := os.environ.get("WANDB_BASE_URL")):
            check_address("WANDB_BASE_URL", server)  # which wandb prints and records
        import wandb

        _stage_where_one_can_write()
        removed = _remove_what_was_not_uploaded(self.folder.path / "wandb")
        try:
            self.run = self._init(wandb)
        except wandb.Error as error:
            raise UserError(f"tracker={self.cfg.tracker.mode}: {first_line(error)}") from error
        if removed or self.cfg.tracker.mode == "online":
            for record in records.read(self.folder.metrics):
                if record.get("update", 0) >= self.run.starting_step:
                    self.log(record)
        return self

    def _init(self, wandb: Any) -> Any:
        run = wandb.init(
            project=self.cfg.tracker.project,
            mode=self.cfg.tracker.mode,
            id=self.folder.identity,
            name=self.folder.name,
            group=self.cfg.get("recipe", ADHOC),
            tags=_tags(self.cfg),
            dir=str(self.folder.path),
            config=_flat_config(self.cfg),
            # without records it is trained afresh, and takes the place of what wandb has of this id
            resume="allow" if records.read(self.folder.metrics) else None,
            reinit="create_new",  # an array has one for each of its members
            settings=wandb.Settings(silent=True, console="off", x_disable_stats=True, x_disable_meta=True),
        )
        if self.cfg.tracker.mode == "offline":
            link_offline_run(Path(run.dir).parent, Path(self.cfg.runs_dir))
        return run

    def log(self, record: Record) -> None:
        """Log a record: of an epoch or a probe at its update, of the end as the run's summary; others stay in the run's
        folder.
        """
        if self.run is None:
            return
        if record["kind"] == "epoch":
            self._log_epoch(record)
        elif record["kind"] == "probe":
            self.run.log(_of_probe(record), step=record["update"])
        elif record["kind"] == "end":
            self._log_end(record)

    def _log_epoch(self, record: Record) -> None:
        import wandb

        task = task_of(self.cfg)
        samples = task.samples(self.cfg, self.folder, record["epoch"])
        # in the summary: as history, a table adds charts of its numbers of rows and columns
        table = {"samples": wandb.Table(columns=list(samples.columns), data=list(samples.rows))} if samples else {}
        self.run.log(charts_of(record, task), step=record["update"])
        epochs = [one for one in self.folder.epochs() if one["epoch"] <= record["epoch"]]
        self.run.summary.update(
            table
            | {
                task.score.best: max(known_values(epochs, task.score.valid), default=None),
                task.score.last: record[task.score.valid],
                "best_valid_nll": min(known_values(epochs, "valid_nll"), default=None),
            }
        )

    def _log_end(self, record: Record) -> None:
        import wandb

        before = [one for one in records.read(self.folder.metrics) if one["kind"] != "end"]
        probes = records.of_kind("probe", before)
        if rows := gradients(probes):
            table = wandb.Table(columns=GRADIENT_COLUMNS, data=rows)
            of_w2 = wandb.Table(columns=GRADIENT_COLUMNS, data=gradients(probes, "W2"))
            title = "‖E[∂L/∂W²]‖ by layer"
            chart = wandb.plot.line(of_w2, x="layer", y="grad_norm", stroke="line", title=title)
            self.run.log({"gradients": table, "gradients_of_W2": chart}, step=before[-1]["update"])
        self.run.summary.update(_numbers(record))

    def __exit__(self, kind, error, trace) -> None:
        if self.run is not None:
            self.run.finish(exit_code=0 if error is None else 1)


def _tags(cfg: DictConfig) -> list[str]:
    """Return a run's tags: profile, corpus, and the arm where a recipe asked for the run."""
    said = [cfg.profile, cfg.data.name, cfg.get("arm")]
    return [str(tag)[:LONGEST_TAG] for tag in said if tag]


def _flat_config(cfg: DictConfig) -> dict[str, Any]:
    """Return every setting by its dotted name but absolute paths, the choices that tell arms apart by a plain name, and
    the commit.
    """
    state = git_state()
    chosen = {
        "placement": short_name(cfg.model._name),
        "optimizer_name": short_name(cfg.optimizer._name),
        "schedule": short_name(cfg.lr_schedule._name),
        "norm_kind": cfg.norm.kind,
        "corpus": cfg.data.name,
        "commit": state["commit"],
        "commit_dirty": state["dirty"],
    }
    return dict(_leaves(plain(cfg))) | chosen


def _leaves(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        elif not _is_place(value):
            yield f"{prefix}{key}", value


def _is_place(value: Any) -> bool:
    """Return whether a value says where something lies on this machine, which is nobody else's business."""
    if isinstance(value, list):
        return any(map(_is_place, value))
    return isinstance(value, str) and value.startswith(("/", "~"))


def _numbers(record: Record) -> dict[str, Any]:
    return {key: value for key, value in record.items() if isinstance(value, int | float)}


#: The numbers of ``epoch`` records that every task has, beside what it measures itself. The others of a record, as
#: the beam or how many sentences were translated, are equal in all epochs: no charts are drawn of them.
COMMON = ("valid_loss", "train_loss", "lr", "grad_norm", "tokens_per_second", "seconds", "epoch")


def charts_of(record: Record, task: Task) -> dict[str, Any]:
    """Return the numbers of an ``epoch`` record that change, by the names of their charts: score and nll first."""
    measured = [field.name for field in task.epoch_numbers()]
    keys = [measured[0], "valid_nll", *measured[1:], *COMMON]
    return {chart_name(key): record[key] for key in keys if isinstance(record.get(key), int | float)}


def chart_name(key: str) -> str:
    """Return the chart of a key of ``epoch`` records: ``valid/bleu`` for ``valid_bleu``, ``train/lr`` for ``lr``.

    ``epoch`` keeps its name, for other charts have it on their x axis.
    """
    if key == "epoch":
        return key
    if key.startswith("whole_valid_"):
        return f"valid/whole_{key.removeprefix('whole_valid_')}"
    if key.startswith("valid_"):
        return f"valid/{key.removeprefix('valid_')}"
    return f"train/{key.removeprefix('train_')}"


def gradients(probes: Sequence[Record], parameter: str | None = None) -> list[Any]:
    """Return a row for every gradient that was probed along training, of all FFN matrices or of one."""
    return [
        [
            record["update"],
            record["side"],
            record["layer"],
            record["parameter"],
            record["grad_norm"],
            f"{record['side']}, update {record['update']}",
        ]
        for record in probes
        if record.get("parameter") and parameter in (None, record["parameter"])
    ]


def _of_probe(record: Record) -> dict[str, Any]:
    """Return ``probe/decoder.6.W2.grad_norm`` for a gradient, ``probe/decoder.6.output`` for hidden states."""
    where = f"probe/{record['side']}.{record['layer']}"
    if "parameter" in record:
        return {f"{where}.{record['parameter']}.{norm}": record[norm] for norm in ("grad_norm", "mean_grad_norm")}
    return {f"{where}.{place}": record[place] for place in ("output", "before_norm") if place in record}


def _remove_what_was_not_uploaded(folder: Path) -> bool:
    """Remove offline runs, unless one of them was uploaded, and return whether their records are to be logged again."""
    if any(folder.glob("offline-run-*/*.synced")):
        return False
    for path in folder.glob("offline-run-*"):
        shutil.rmtree(path)
    return True


def _stage_where_one_can_write() -> None:
    """Have wandb keep tables that it is about to record in the folder for temporary files, where home is read-only."""
    if not os.access(os.path.expanduser("~"), os.W_OK):
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR"):
            os.environ.setdefault(name, tempfile.gettempdir())
