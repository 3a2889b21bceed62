"""Tell the runs of a sweep to print nothing, because the sweep prints a line for each itself."""

import os

#: The environment variable that tells them; processes that a launcher starts have it from the sweep's.
QUIET = "LNEXP_QUIET_RUNS"


def make_runs_quiet() -> None:
    """Have this process, and those that it starts, print nothing of single runs."""
    os.environ[QUIET] = "1"


def runs_are_quiet() -> bool:
    """Return whether runs print nothing. A job that submitit started has a log of its own, where it prints all."""
    return bool(os.environ.get(QUIET)) and "SUBMITIT_EXECUTOR" not in os.environ
