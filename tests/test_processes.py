"""A worker process does not outlive its parent."""

import os
import signal
import subprocess
import sys
import time

WORKER = """
import time
from lnexp.processes import end_with_parent
end_with_parent()
print("up", flush=True)
time.sleep(60)
"""
PARENT = f"""
import subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", {WORKER!r}])
print(worker.pid, flush=True)
worker.wait()
"""

LATE = """
import multiprocessing, os, time
from lnexp.processes import end_with_parent

def work():
    print(os.getpid(), flush=True)
    while os.getppid() == multiprocessing.parent_process().pid:
        time.sleep(0.01)
    end_with_parent()
    time.sleep(60)

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
"""

PROBE = r"""
import os, time
from joblib import delayed
from lnexp.probing.recipes import in_workers

def work():
    os.write(1, f"{os.getpid()}\n".encode())  # in one piece, beside the other worker
    time.sleep(300)

list(in_workers([delayed(work)()] * 2, 2))
"""


def test_what_measures_for_a_killed_command_ends():
    parent = subprocess.Popen([sys.executable, "-c", PROBE], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    for worker in workers:
        assert_ends(worker)


def test_a_worker_ends_whose_parent_was_killed_before_it_was_watched():
    parent = subprocess.Popen([sys.executable, "-c", LATE], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert_ends(worker)


def test_a_worker_ends_with_its_killed_parent():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    words = {parent.stdout.readline().strip(), parent.stdout.readline().strip()}
    (worker,) = (int(word) for word in words - {"up"})
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert_ends(worker)


def assert_ends(worker: int) -> None:
    for _ in range(100):
        if not is_alive(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    raise AssertionError("the worker lives on")


def is_alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
