"""Let a run of more epochs begin where a finished run ends that differs from it in the number of epochs alone.

Its numbers are those that it would have from scratch: the schedule must not depend on the length, and nothing of the
first epochs may be missing or have been measured otherwise.
"""

import copy
import re
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.runs import records
from lnexp.runs.checksum import is_whole
from lnexp.runs.code import changes
from lnexp.runs.environment import Environment
from lnexp.runs.folder import RunFolder, find_folders, status_of
from lnexp.runs.identity import identity, name_of, short_name
from lnexp.runs.measurements import measured_otherwise
from lnexp.tasks import table_of
from lnexp.training.journal import logging_to
from lnexp.training.same_data import on_other_data


def begin_after_shorter_run(cfg: DictConfig, folder: RunFolder) -> str:
    """Give a run that has trained nothing the checkpoints and records of the longest such run, if there is one.

    They are complete when the records are there, which are written last.

    Args:
        cfg: the resolved config.
        folder: the run's, without checkpoints and records.

    Returns:
        A line on what was done, or why it was not; empty where there is no shorter run.
    """
    shorter = _shorter_run(cfg)
    if shorter is None:
        return ""
    epoch = shorter.saved.last_epoch()
    if why := _why_not(cfg, shorter, epoch):
        return f"starts afresh, not after the {epoch} epochs of {shorter.name}: {why}"
    folder.write_environment(shorter.environment | Environment(continues={"run": shorter.identity, "epoch": epoch}))
    with logging_to([folder.log]):  # before fairseq, which logs at import
        for kept in shorter.saved.epochs():
            _take_over(shorter, folder, kept)
    lines = [records.to_line(record) for record in records.read(shorter.metrics) if record["kind"] != "end"]
    write_whole(folder.metrics, "".join(lines))
    return f"begins after the {epoch} epochs of {shorter.name}"


def _shorter_run(cfg: DictConfig) -> RunFolder | None:
    """Return the finished run with the most epochs that is this one with fewer; None where there is none."""
    schedule = short_name(cfg.lr_schedule._name)
    model, optimizer = short_name(cfg.model._name), short_name(cfg.optimizer._name)
    usual = name_of(model, cfg.norm.kind, optimizer, cfg.lr_max, cfg.warmup_updates, schedule, cfg.seed)
    start, end = usual.removesuffix(f"-s{cfg.seed}"), f"-s{cfg.seed}"
    likely = re.compile(rf"{re.escape(start)}(-.*)?{re.escape(end)}-[0-9a-f]{{8}}")  # a label may be between
    found: dict[int, RunFolder] = {}
    for name, path in find_folders(cfg.runs_dir).items():
        if not likely.fullmatch(path.name) or status_of(path).get("state") != "finished":
            continue
        epochs = _epochs_of(RunFolder(path))
        if epochs and epochs < cfg.max_epoch and identity(_with_epochs(cfg, epochs)) == name:
            found[epochs] = RunFolder(path)
    return found[max(found)] if found else None


def _epochs_of(folder: RunFolder) -> int:
    """Return how many epochs a finished run has, all recorded and the last one saved; 0 where that cannot be said."""
    try:
        most, recorded = folder.config.get("max_epoch"), [record["epoch"] for record in folder.epochs()]
    except UserError:
        return 0
    length = len(recorded)  # the file may state any number
    whole = length == most and recorded == list(range(1, length + 1)) and is_whole(folder.saved.of_epoch(length))
    return length if whole else 0


def _with_epochs(cfg: DictConfig, epochs: int) -> DictConfig:
    other = copy.deepcopy(cfg)
    for place in table_of(cfg).places(lambda option: option.name == "max_epoch"):
        if OmegaConf.select(other, place) is not None:
            OmegaConf.update(other, place, epochs)
    return other


def _why_not(cfg: DictConfig, shorter: RunFolder, epoch: int) -> str:
    """Return why a run would not have the numbers after a shorter one that it has from scratch; empty if it would."""
    kept, best = shorter.saved.epochs(), _best_epoch(shorter)
    name = short_name(cfg.lr_schedule._name)
    if not str(cfg.lr_schedule._name).startswith("lnexp_"):
        return f"lr_schedule={name} is fairseq's, and may depend on the length"
    if cfg.lr_schedule.get("total_updates", 0) is None:
        return f"lr_schedule={name} ends with the run; lr_schedule.total_updates=… gives both runs one end"
    measured = {frozenset(record.keys() - records.OPTIONAL["epoch"]) for record in shorter.epochs()}
    if epoch == 1 or len(measured) > 1:
        return "its last epoch may have been measured as a last one"
    if not table_of(cfg).records_every_epoch(cfg):
        return "not every epoch has a record"
    if cfg.evaluation.average_last > cfg.max_epoch - epoch:
        return f"evaluation.average_last={cfg.evaluation.average_last} needs checkpoints that it did not keep"
    if best not in kept or (cfg.checkpoints.keep == "all" and len(kept) < epoch):
        return "checkpoints that it did not keep are needed"
    if differing := measured_otherwise(cfg, shorter.config):
        return f"it was trained with other {' and '.join(differing)}"
    if cfg.other_code != "keep" and (changed := changes(cfg, shorter)):
        return f"it was trained by other code ({changed}); other_code=keep takes it"
    if others := on_other_data(cfg, shorter):
        return f"it was trained {others}"
    return ""


def _best_epoch(folder: RunFolder) -> int:
    known = [record for record in folder.epochs() if record["valid_nll"] is not None]
    return int(min(known, key=lambda record: record["valid_nll"])["epoch"]) if known else folder.saved.last_epoch()


def _take_over(shorter: RunFolder, folder: RunFolder, epoch: int) -> None:
    """Write the checkpoint of an epoch as that of the longer run, whose name checkpoints bear."""
    from lnexp.safe_loading import load  # here, for it imports torch
    from lnexp.training.models.array_checkpoints import write_checkpoint

    state: dict[str, Any] = load(shorter.saved.of_epoch(epoch))
    state["extra_state"]["identity"] = folder.identity
    state["cfg"] = OmegaConf.to_container(state["cfg"], resolve=True, enum_to_str=True)  # plain values, as it was saved
    write_checkpoint(state, folder.saved.of_epoch(epoch))
