"""Train one run, or skip it, or go on with it."""

import gc
import importlib
import logging
import sys
from contextlib import ExitStack, suppress
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, check_device
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.runs.checkpoint_retention import epochs_to_average, keep_for_good
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder, State
from lnexp.runs.lock import held
from lnexp.runs.records import Record
from lnexp.training.console import logging_to, say
from lnexp.training.journal import Journal
from lnexp.training.ranks import ALONE, Ranks, is_lost, joined
from lnexp.training.shares import share


def train_run(cfg: DictConfig, show_progress: bool = False) -> RunFolder:
    """Train the run of a config and return its folder.

    A finished or diverged run is skipped, an interrupted one goes on where it was saved last, and ``force`` trains
    afresh. Where torchrun or SLURM started this process as one of many, all of them train the run together.
    ``show_progress`` draws a bar for each epoch on standard error.

    Raises:
        UserError: for settings or data that cannot work; a RunBusyError where another process trains the same run, a
            RankLostError where one of its own ends.
        OSError: where the disk is full or a folder cannot be written; the run is then marked ``failed``.
    """
    check(cfg)
    OmegaConf.resolve(cfg)
    with joined(cfg.device) as ranks, ExitStack() as lock:
        share(cfg.update_freq, ranks)  # here, before anything is written
        folder, is_done = ranks.first(lambda: _claim(cfg, lock))
        if not is_done:
            try:
                _train_locked(cfg, folder, show_progress, ranks)
            except Exception as error:  # an interrupted run is not a failed one
                if ranks.size == 1 or not is_lost(error):
                    mark_failed(folder, error, ranks)
                raise
    return folder


def _claim(cfg: DictConfig, lock: ExitStack) -> tuple[RunFolder, bool]:
    """The run's folder, locked, and whether there is nothing to do."""
    folder = RunFolder.of(cfg)
    if not cfg.force and folder.is_done:
        say(f"{folder.name}: {folder.status['state']} already, skipped")
        return folder, True
    check_device(cfg)
    lock.enter_context(held(cfg.runs_dir, folder.identity))
    folder = RunFolder.of(cfg)  # again: another process may have made it meanwhile, and finished
    if cfg.force and folder.path.exists():
        folder.clear()
    return folder, folder.is_done


def _train_locked(cfg: DictConfig, folder: RunFolder, show_progress: bool, ranks: Ranks) -> None:
    ranks.first(lambda: _open(cfg, folder))
    with logging_to([folder.log_of(ranks.rank)]):
        corpus = ranks.first(lambda: prepare(cfg.data, cfg.data_dir))
        engine = import_fairseq("lnexp.training.engine")
        first_epoch = ranks.first(lambda: _tidy(folder))
        machine = engine.Engine(cfg, folder, corpus, show_progress and ranks.leads, ranks)
        if ranks.leads:
            folder.write_environment(environment(machine.device, corpus.manifest) | {"processes": ranks.size})
            announce(cfg, folder, first_epoch, ranks=ranks)
        with Journal(cfg, folder, first_epoch, ranks) as journal:
            state, why = _train(machine, journal.add)
            end = end_record_of(machine, cfg, folder, ranks, diverged=state == "diverged")
            journal.add(end)
        if ranks.leads:
            folder.drop_leftovers()
            folder.set_status(state, why, machine.updates)
            keep_for_good(folder, cfg)
    if ranks.leads:
        announce_end(folder, end)


def _open(cfg: DictConfig, folder: RunFolder) -> None:
    folder.checkpoints.mkdir(parents=True, exist_ok=True)
    folder.set_status("running")
    folder.write_config(cfg)


def _tidy(folder: RunFolder) -> int:
    """Leave in a folder what training goes on from, and nothing after it; the epoch to train next."""
    drop_leftovers(folder)
    epoch = folder.last_checkpoint_epoch()
    folder.drop_after(epoch, folder.last_update_within())
    return epoch + 1


def drop_leftovers(folder: RunFolder) -> None:
    """Tidy up after a kill or a broken disk, and say which checkpoints are lost to it."""
    for path in folder.drop_leftovers():
        say(f"{folder.name} | {path.name} is not what was saved: dropped")


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


def announce(cfg: DictConfig, folder: RunFolder, first_epoch: int, members: int = 1, ranks: Ranks = ALONE) -> None:
    """Say that a run begins, in how large an array or how many processes, and what an update is made of."""
    how = "starts" if first_epoch == 1 else f"goes on with epoch {first_epoch}"
    if update := folder.last_update_within():
        how = f"goes on within epoch {first_epoch}, after update {update}"
    among = f", one of {members} in an array" if members > 1 else ""
    say(f"{folder.name} | {how}: {cfg.max_epoch} epochs of {cfg.data.name}, profile {cfg.profile}{among}")
    if cfg.update_freq > 1:
        share = f", {cfg.update_freq // ranks.size} of them in each of {ranks.size} processes" if ranks.size > 1 else ""
        most = cfg.update_freq * cfg.max_tokens
        say(f"{folder.name} | an update has {cfg.update_freq} batches, {most:,} tokens a side at most{share}")


def announce_end(folder: RunFolder, end: Record) -> None:
    """Say how a run ended."""
    state, why = folder.status["state"], folder.status["why"]
    say(f"{folder.name} | {state}{f' ({why})' if why else ''}, {_test_words(end)} | {folder.path}")


def end_record_of(machine, cfg: DictConfig, folder: RunFolder, ranks: Ranks, diverged: bool) -> Record:
    """Test the best checkpoint, and the average of the last; of a diverged run the last one that decodes, if any."""
    from lnexp.training.scores import no_end_record

    for epoch in ranks.first(lambda: folder.epochs_to_test(diverged)):
        with suppress(FloatingPointError):
            best = machine.test(epoch)
            return best if diverged else best | _average_scores(machine, cfg, folder, ranks)
    return no_end_record()


def _average_scores(machine, cfg: DictConfig, folder: RunFolder, ranks: Ranks) -> Record:
    """What the average of the last checkpoints adds to the ``end`` record; nothing where it does not decode."""
    epochs = ranks.first(lambda: epochs_to_average(folder, cfg))
    with suppress(FloatingPointError):
        return machine.test_average(epochs) if epochs else {}
    return {}


def _test_words(end: Record) -> str:
    if end["test_bleu"] is None:
        return "no checkpoint to test"
    return (
        f"test BLEU {end['test_bleu']:.2f} ({end['test_bleu_tokenised']:.2f} tokenised;"
        f" epoch {end['checkpoint_epoch']}, beam {end['beam']}, {end['n_sentences']} sentences)"
    )


def mark_failed(folder: RunFolder, error: Exception, ranks: Ranks = ALONE) -> None:
    """Write into a run's folder that it failed, why, and in which of many processes."""
    where = f"process {ranks.rank} of {ranks.size}: " if ranks.size > 1 else ""
    with suppress(OSError, UserError):  # what broke the run may not take its epitaph either
        epochs = folder.epochs()
        updates = epochs[-1]["update"] if epochs else 0
        folder.set_status("failed", f"{where}{type(error).__name__}: {error}", updates)
