"""Signals that wait until a run has saved its state."""

import os
import signal

import pytest

from lnexp.training.signals import SIGNALS, Notice


@pytest.fixture
def received():
    """What arrives at the handlers that were there before."""
    found: list = []
    before = {number: signal.signal(number, lambda number, frame: found.append(number)) for number in SIGNALS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_until_it_is_handed_on(received, number):
    with Notice() as notice:
        os.kill(os.getpid(), number)
        assert (notice.pending, received) == ([number], [])
        notice.hand_on()
        assert (notice.pending, received) == ([], [number])
        os.kill(os.getpid(), number)
        assert notice.pending == [number], "kept back again"
    assert received == [number, number], "at the end, at the latest"
    os.kill(os.getpid(), number)
    assert received == [number] * 3, "and from then on at once"


def test_one_that_comes_again_later_does_not_wait(received, monkeypatch):
    with Notice() as notice:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [], "one notice"
        monkeypatch.setattr("lnexp.training.signals.PATIENCE", 0.0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM, signal.SIGUSR1]
        assert notice.pending == []


@pytest.mark.parametrize(("error", "handed_on"), [(FloatingPointError, True), (RuntimeError, False)])
def test_a_run_that_diverges_meanwhile_ends_all_the_same_and_one_that_breaks_says_why(error, handed_on):
    def be_told_and_fail():
        with Notice():
            os.kill(os.getpid(), signal.SIGUSR1)
            raise error

    received = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: received.append(number))
    with pytest.raises(error):
        be_told_and_fail()
    signal.signal(signal.SIGUSR1, before)
    assert received == [signal.SIGUSR1] * handed_on


def test_a_signal_that_nobody_wants_is_over_when_handed_on():
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with Notice() as notice:
        os.kill(os.getpid(), signal.SIGUSR1)
        notice.hand_on()
        assert notice.pending == []
    signal.signal(signal.SIGUSR1, before)
