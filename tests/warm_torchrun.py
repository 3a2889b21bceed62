"""torchrun, but for the processes that it starts: they are forks of this one, so nothing is imported again."""

import runpy
import signal
import sys

from torch.distributed.launcher.api import LaunchConfig, elastic_launch


def run(words: list[str]) -> None:
    """Run a script, in a process of its own, as ``python script.py …`` would."""
    for number in (
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGINT,
    ):  # the launcher has handlers of its own
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    sys.argv[:] = words
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    _, processes, *words = sys.argv
    launch = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=int(processes),
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        monitor_interval=0.1,
        start_method="fork",
    )
    elastic_launch(launch, run)(words)
