"""Train one run, or skip it, or go on with it."""

import gc
import importlib
import logging
import sys
from contextlib import suppress
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, check_device
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
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
            mark_failed(folder, error)
            raise
    return folder


def _train_locked(cfg: DictConfig, folder: RunFolder, show_progress: bool) -> None:
    folder.checkpoints.mkdir(parents=True, exist_ok=True)
    folder.set_status("running")
    folder.write_config(cfg)
    with logging_to([folder.log]):
        corpus = prepare(cfg.data, cfg.data_dir)
        engine = import_fairseq("lnexp.training.engine")
        folder.drop_leftovers()
        first_epoch = folder.last_checkpoint_epoch() + 1
        folder.drop_after(first_epoch - 1)
        machine = engine.Engine(cfg, folder, corpus, show_progress)
        folder.write_environment(environment(machine.device, corpus.manifest))
        announce(cfg, folder, first_epoch)
        with Tracker(cfg, folder) as tracker:
            clock = Clock(first_epoch, cfg.max_epoch)

            def on_record(record: Record) -> None:
                folder.append(record)
                tracker.log(record)
                if record["kind"] == "epoch":
                    say(f"{folder.name} | {epoch_line(record, cfg.max_epoch, clock.seconds_left(record['epoch']))}")

            state, why = _train(machine, on_record)
            end = _end_record(machine, folder, diverged=state == "diverged")
            folder.append(end)
            tracker.log(end)
        folder.drop_leftovers()
        folder.set_status(state, why, machine.updates)
    announce_end(folder, end)


def import_fairseq(module: str) -> Any:
    """Import a module that needs fairseq, which takes seconds: only where work begins, and without a vain search for
    garbage.
    """
    if module in sys.modules:
        return sys.modules[module]
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _train(machine, on_record) -> tuple[State, str]:
    """How training ended, and why."""
    try:
        machine.train(on_record)
    except FloatingPointError as error:
        return "diverged", str(error)
    except Exception:
        logging.exception("training failed")  # into train.log: a sweep keeps no traceback
        raise
    return "finished", ""


def announce(cfg: DictConfig, folder: RunFolder, first_epoch: int, members: int = 1) -> None:
    """Say that a run begins, and in how large an array."""
    how = "starts" if first_epoch == 1 else f"goes on with epoch {first_epoch}"
    among = f", one of {members} in an array" if members > 1 else ""
    say(f"{folder.name} | {how}: {cfg.max_epoch} epochs of {cfg.data.name}, profile {cfg.profile}{among}")


def announce_end(folder: RunFolder, end: Record) -> None:
    """Say how a run ended."""
    state, why = folder.status["state"], folder.status["why"]
    say(f"{folder.name} | {state}{f' ({why})' if why else ''}, {_test_words(end)} | {folder.path}")


def _end_record(machine, folder: RunFolder, diverged: bool) -> Record:
    """Test the best checkpoint; of a diverged run the last one that decodes, if it has any."""
    from lnexp.training.scores import no_end_record

    for epoch in folder.epochs_to_test(diverged):
        with suppress(FloatingPointError):
            return machine.test(epoch)
    return no_end_record()


def _test_words(end: Record) -> str:
    if end["test_bleu"] is None:
        return "no checkpoint to test"
    return (
        f"test BLEU {end['test_bleu']:.2f} ({end['test_bleu_tokenised']:.2f} tokenised;"
        f" epoch {end['checkpoint_epoch']}, beam {end['beam']}, {end['n_sentences']} sentences)"
    )


def mark_failed(folder: RunFolder, error: Exception) -> None:
    """Write into a run's folder that it failed, and why."""
    with suppress(OSError, UserError):  # what broke the run may not take its epitaph either
        epochs = folder.epochs()
        folder.set_status("failed", f"{type(error).__name__}: {error}", epochs[-1]["update"] if epochs else 0)
