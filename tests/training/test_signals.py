"""Signals that wait until a run has saved its state."""

import os
import signal

import pytest

from lnexp.training.ranks import Ranks
from lnexp.training.signals import SIGNALS, DeferredSignals


@pytest.fixture
def received():
    """What arrives at the handlers that were there before."""
    found: list = []
    before = {number: signal.signal(number, lambda number, frame: found.append(number)) for number in SIGNALS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_until_it_is_delivered(received, number):
    with DeferredSignals() as deferred:
        os.kill(os.getpid(), number)
        assert (deferred.pending, received) == ([number], [])
        deferred.deliver()
        assert (deferred.pending, received) == ([], [number])
        os.kill(os.getpid(), number)
        assert deferred.pending == [number], "deferred again"
    assert received == [number, number], "at the end, at the latest"
    os.kill(os.getpid(), number)
    assert received == [number] * 3, "and from then on at once"


def test_one_that_comes_again_later_does_not_wait(received, monkeypatch):
    with DeferredSignals() as deferred:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [], "one signal"
        monkeypatch.setattr("lnexp.training.signals.DUPLICATE_SECONDS", 0.0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM, signal.SIGUSR1]
        assert deferred.pending == []


def test_an_error_is_raised_and_not_replaced_by_a_pending_signal(received):
    def be_told_and_fail():
        with DeferredSignals():
            os.kill(os.getpid(), signal.SIGUSR1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        be_told_and_fail()
    assert received == []


LOST = "[gloo/transport/tcp/pair.cc] Connection closed by peer"


def fail_among(ranks, error):
    def fail():
        with DeferredSignals(ranks):
            raise RuntimeError(error)

    with pytest.raises(RuntimeError):
        fail()


def test_signals_wait_on_where_another_process_was_lost(received):
    """The process then ends and says why, before torchrun ends it."""

    fail_among(Ranks(size=2), LOST)
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == []


@pytest.mark.parametrize(("size", "error"), [(1, "wrong"), (2, "wrong"), (1, "/gloo/runs: no space left")])
def test_after_another_error_signals_arrive_at_once(received, size, error):
    """The process may be a sweep's worker, and train the next run."""
    fail_among(Ranks(size=size), error)
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]


def test_a_signal_that_was_ignored_is_dropped_when_delivered():
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with DeferredSignals() as deferred:
        os.kill(os.getpid(), signal.SIGUSR1)
        deferred.deliver()
        assert deferred.pending == []
    signal.signal(signal.SIGUSR1, before)
