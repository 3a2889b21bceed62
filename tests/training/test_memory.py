"""What an update frees stays with the process for the next one."""

import os
import subprocess
import sys

import pytest

from lnexp.training.memory import SAID_BY

pytestmark = pytest.mark.slow

#: Prints how many pages the system gives for 40 tensors of 1 MiB, held at once when as many were freed, in a process
#: that gives each block back at once unless it is told to keep them.
PAGES = """
import ctypes, resource, sys, torch
from lnexp.training.memory import M_MMAP_THRESHOLD, keep_freed_memory
ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 65536)
if sys.argv[1:] == ["keep"]:
    keep_freed_memory()
for number in range(12):
    if number == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [torch.ones(1 << 18) for _ in range(40)]
    del held
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
#: Of 4 KiB each: all of two such times.
ALL = 2 * 40 * 256


def pages(*arguments: str, **environment: str) -> int:
    inherited = {name: value for name, value in os.environ.items() if name not in SAID_BY}
    command = [sys.executable, "-c", PAGES, *arguments]
    return int(subprocess.check_output(command, env={**inherited, **environment}, text=True))


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_freed_memory_is_used_again():
    assert pages("keep") < ALL / 20
    assert pages() > ALL / 2


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_what_the_environment_says_counts():
    assert pages("keep", MALLOC_MMAP_THRESHOLD_="65536") > ALL / 2
