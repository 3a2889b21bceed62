"""wandb, fed from our own records."""

from typing import Any

from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.plain import plain
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record


class Tracker:
    """A wandb run whose id is the run's identity, so that a resumed run stays one run; a context manager.

    ``tracker.mode`` is wandb's: offline writes into the run folder, online needs the user's key, disabled does nothing.
    """

    def __init__(self, cfg: DictConfig, folder: RunFolder):
        self.cfg, self.folder = cfg, folder
        self.run: Any = None

    def __enter__(self) -> "Tracker":
        if self.cfg.tracker.mode == "disabled":
            return self
        import wandb

        try:
            self.run = self._init(wandb)
        except wandb.Error as error:
            raise UserError(f"tracker={self.cfg.tracker.mode}: {str(error).splitlines()[0]}") from error
        return self

    def _init(self, wandb: Any) -> Any:
        return wandb.init(
            project=self.cfg.tracker.project,
            mode=self.cfg.tracker.mode,
            id=self.folder.identity,
            name=self.folder.name,
            group=self.cfg.get("recipe", "adhoc"),
            dir=str(self.folder.path),
            config=plain(self.cfg),
            resume="allow",
            reinit="create_new",  # an array has one for each of its members
            settings=wandb.Settings(silent=True, console="off", x_disable_stats=True, x_disable_meta=True),
        )

    def log(self, record: Record) -> None:
        """Log the numbers of a record: an epoch's or a probe's at its update, the end's as the run's summary."""
        if self.run is None:
            return
        numbers = {key: value for key, value in record.items() if isinstance(value, int | float)}
        if record["kind"] == "epoch":
            self.run.log(numbers, step=record["update"])
        elif record["kind"] == "probe":
            self.run.log(_of_probe(record), step=record["update"])
        else:
            self.run.summary.update(numbers)

    def __exit__(self, kind, error, trace) -> None:
        if self.run is not None:
            self.run.finish(exit_code=0 if error is None else 1)


def _of_probe(record: Record) -> dict[str, Any]:
    """``probe/decoder.6.W2`` for a gradient, ``probe/decoder.6.output`` for hidden states."""
    where = f"probe/{record['side']}.{record['layer']}"
    if "parameter" in record:
        return {f"{where}.{record['parameter']}": record["grad_norm"]}
    return {f"{where}.{place}": record[place] for place in ("output", "before_norm") if place in record}
