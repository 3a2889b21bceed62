"""One run in wandb, told from our own records."""

import shutil
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus, corpus_folder
from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.tracking.about import flat_config, tags
from lnexp.tracking.tables import GRADIENT_COLUMNS, SAMPLE_COLUMNS, gradients, samples


class Tracker:
    """A wandb run whose id is the run's identity, so that a resumed run stays one run; a context manager.

    ``tracker.mode`` is wandb's: offline writes into the run folder, online needs the user's key, disabled does nothing.
    A run that goes on is told again from its records, as far as wandb does not have them: offline all, unless its
    beginning has been uploaded, else what was recorded after the checkpoint it goes on from would be there twice;
    online those from the step on that wandb says it is at.
    """

    def __init__(self, cfg: DictConfig, folder: RunFolder):
        self.cfg, self.folder = cfg, folder
        self.run: Any = None

    def __enter__(self) -> "Tracker":
        if self.cfg.tracker.mode == "disabled":
            return self
        import wandb

        forgotten = _forget_what_was_not_uploaded(self.folder.path / "wandb")
        try:
            self.run = self._init(wandb)
        except wandb.Error as error:
            raise UserError(f"tracker={self.cfg.tracker.mode}: {str(error).splitlines()[0]}") from error
        if forgotten or self.cfg.tracker.mode == "online":
            for record in records.read(self.folder.metrics):
                if record.get("update", 0) >= self.run.starting_step:
                    self.log(record)
        return self

    def _init(self, wandb: Any) -> Any:
        return wandb.init(
            project=self.cfg.tracker.project,
            mode=self.cfg.tracker.mode,
            id=self.folder.identity,
            name=self.folder.name,
            group=self.cfg.get("recipe", "adhoc"),
            tags=tags(self.cfg),
            dir=str(self.folder.path),
            config=flat_config(self.cfg),
            resume="allow",
            reinit="create_new",  # an array has one for each of its members
            settings=wandb.Settings(silent=True, console="off", x_disable_stats=True, x_disable_meta=True),
        )

    def log(self, record: Record) -> None:
        """Log what a record says: an epoch's or a probe's at its update, the end's as the run's summary."""
        if self.run is None:
            return
        if record["kind"] == "epoch":
            self._log_epoch(record)
        elif record["kind"] == "probe":
            self.run.log(_of_probe(record), step=record["update"])
        else:
            self._log_end(record)

    def _log_epoch(self, record: Record) -> None:
        import wandb

        languages = self.cfg.data.source_lang, self.cfg.data.target_lang
        corpus = PreparedCorpus(corpus_folder(self.cfg.data, self.cfg.data_dir))
        rows = samples(self.folder, corpus, languages, record["epoch"])
        table = {"samples": wandb.Table(columns=SAMPLE_COLUMNS, data=rows)} if rows else {}
        self.run.log(_numbers(record) | table, step=record["update"])
        epochs = [one for one in self.folder.epochs() if one["epoch"] <= record["epoch"]]
        bleu, nll = ([one[key] for one in epochs if one[key] is not None] for key in ("valid_bleu", "valid_nll"))
        self.run.summary.update(
            {
                "best_valid_bleu": max(bleu, default=None),
                "last_valid_bleu": record["valid_bleu"],
                "best_valid_nll": min(nll, default=None),
            }
        )

    def _log_end(self, record: Record) -> None:
        import wandb

        before = [one for one in records.read(self.folder.metrics) if one["kind"] != "end"]
        probes = [one for one in before if one["kind"] == "probe"]
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


def _numbers(record: Record) -> dict[str, Any]:
    return {key: value for key, value in record.items() if isinstance(value, int | float)}


def _of_probe(record: Record) -> dict[str, Any]:
    """``probe/decoder.6.W2.grad_norm`` for a gradient, ``probe/decoder.6.output`` for hidden states."""
    where = f"probe/{record['side']}.{record['layer']}"
    if "parameter" in record:
        return {f"{where}.{record['parameter']}.{norm}": record[norm] for norm in ("grad_norm", "mean_grad_norm")}
    return {f"{where}.{place}": record[place] for place in ("output", "before_norm") if place in record}


def _forget_what_was_not_uploaded(folder: Path) -> bool:
    """Remove offline runs, unless one of them was uploaded; whether what they told is to be told again."""
    if any(folder.glob("offline-run-*/*.synced")):
        return False
    for path in folder.glob("offline-run-*"):
        shutil.rmtree(path)
    return True
