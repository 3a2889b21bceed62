"""Train one run, or skip it, or go on with it."""

import gc
import logging
from contextlib import suppress
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, check_device
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder, State
from lnexp.runs.lock import held
from lnexp.runs.records import Record
from lnexp.training.console import Clock, epoch_line, logging_to, say
from lnexp.training.tracker import Tracker


def train_run(cfg: DictConfig, show_progress: bool = False) -> RunFolder:
    """Train the run of a config and return its folder.

    A finished or diverged run is skipped, an interrupted one goes on from its last epoch, and ``force`` trains afresh.
    ``show_progress`` draws a bar for each epoch on standard error.

    Raises:
        UserError: for settings or data that cannot work; a RunBusyError where another process trains the same run.
        OSError: where the disk is full or a folder cannot be written; the run is then marked ``failed``.
    """
    check(cfg)
    OmegaConf.resolve(cfg)
    folder = RunFolder.of(cfg)
    if not cfg.force and folder.is_done:
        say(f"{folder.name}: {folder.status['state']} already, skipped")
        return folder
    check_device(cfg)
    with held(cfg.runs_dir, folder.identity):
        folder = RunFolder.of(cfg)  # again: another process may have made it meanwhile, and finished
        if cfg.force and folder.path.exists():
            folder.clear()
        elif folder.is_done:
            return folder
        try:
            _train_locked(cfg, folder, show_progress)
        except Exception as error:  # an interrupted run is not a failed one
            _mark_failed(folder, error)
            raise
    return folder


def _train_locked(cfg: DictConfig, folder: RunFolder, show_progress: bool) -> None:
    folder.checkpoints.mkdir(parents=True, exist_ok=True)
    folder.set_status("running")
    folder.write_config(cfg)
    with logging_to(folder.log):
        corpus = prepare(cfg.data, cfg.data_dir)
        engine = _import_engine()
        for path in engine.leftovers(folder.checkpoints):
            path.unlink()
        first_epoch = folder.last_checkpoint_epoch() + 1
        records.keep_until_epoch(folder.metrics, first_epoch - 1)
        machine = engine.Engine(cfg, folder, corpus, show_progress)
        folder.write_environment(environment(machine.device, corpus.manifest))
        _announce(cfg, folder, first_epoch)
        with Tracker(cfg, folder) as tracker:
            clock = Clock(first_epoch, cfg.max_epoch)

            def on_epoch(record: Record) -> None:
                folder.append(record)
                tracker.log(record)
                say(f"{folder.name} | {epoch_line(record, cfg.max_epoch, clock.seconds_left(record['epoch']))}")

            state, why = _train(machine, on_epoch)
            end = _end_record(machine, folder, diverged=state == "diverged")
            folder.append(end)
            tracker.log(end)
        for path in engine.leftovers(folder.checkpoints):
            path.unlink()
        folder.set_status(state, why, machine.updates)
    say(f"{folder.name} | {state}{f' ({why})' if why else ''}, {_test_words(end)} | {folder.path}")


def _import_engine() -> Any:
    """fairseq takes seconds to import, so it is only where work begins, and without a vain search for garbage."""
    gc.disable()
    try:
        from lnexp.training import engine

        return engine
    finally:
        gc.freeze()
        gc.enable()


def _train(machine, on_epoch) -> tuple[State, str]:
    """How training ended, and why."""
    try:
        machine.train(on_epoch)
    except FloatingPointError as error:
        return "diverged", str(error)
    except Exception:
        logging.exception("training failed")  # into train.log: a sweep keeps no traceback
        raise
    return "finished", ""


def _announce(cfg: DictConfig, folder: RunFolder, first_epoch: int) -> None:
    how = "starts" if first_epoch == 1 else f"goes on with epoch {first_epoch}"
    say(f"{folder.name} | {how}: {cfg.max_epoch} epochs of {cfg.data.name}, profile {cfg.profile}")


def _end_record(machine, folder: RunFolder, diverged: bool) -> Record:
    """Test the best checkpoint; of a diverged run the last one that decodes, if it has any."""
    from lnexp.training.engine import best_epoch

    candidates = folder.checkpoint_epochs()[::-1]
    kept = [record for record in folder.epochs() if record["epoch"] in candidates]
    if kept and not diverged:
        candidates.insert(0, best_epoch(kept))
    for epoch in candidates:
        with suppress(FloatingPointError):
            return machine.test(epoch)
    return {"kind": "end", "checkpoint_epoch": None, "test_bleu": None, "test_bleu_tokenised": None}


def _test_words(end: Record) -> str:
    if end["test_bleu"] is None:
        return "no checkpoint to test"
    return (
        f"test BLEU {end['test_bleu']:.2f} ({end['test_bleu_tokenised']:.2f} tokenised;"
        f" epoch {end['checkpoint_epoch']}, beam {end['beam']}, {end['n_sentences']} sentences)"
    )


def _mark_failed(folder: RunFolder, error: Exception) -> None:
    with suppress(OSError, UserError):  # what broke the run may not take its epitaph either
        epochs = folder.epochs()
        folder.set_status("failed", f"{type(error).__name__}: {error}", epochs[-1]["update"] if epochs else 0)
