"""What an update frees stays with the process for the next one."""

import os
import subprocess
import sys

import pytest

#: Prints how many pages the system gave for ten tensors of 8 MiB, made one after another when others had been freed.
PAGES = """
import resource, torch
from lnexp.training.memory import keep_freed_memory
keep_freed_memory()
for number in range(50):
    if number == 40:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(1 << 21)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
#: Those of one of the tensors, of 4 KiB each.
OF_ONE = 2048


def pages(**environment: str) -> int:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PAGES]
    return int(subprocess.check_output(command, env={**inherited, **environment}, text=True))


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_freed_memory_is_used_again():
    assert pages() < OF_ONE
    assert pages(MALLOC_MMAP_THRESHOLD_="65536") >= 10 * OF_ONE
