"""Set up the processes that launchers start."""

from functools import cache

from hydra.plugins.launcher import Launcher

from lnexp.configuration import register_resolvers
from lnexp.processes import end_with_parent


@cache
def set_up_worker() -> None:
    """Prepare this process, which a launcher started, once: it ends with its parent, and can resolve configs."""
    end_with_parent()
    register_resolvers()


def set_up_idle_workers(launcher: Launcher) -> None:
    """Have workers of Hydra's joblib launcher set up before their first job: their parent can be killed before it.

    Hydra hands the launcher's options to ``joblib.Parallel``, and joblib this one to the processes that it starts.
    """
    from hydra_plugins.hydra_joblib_launcher.joblib_launcher import JoblibLauncher  # here, for Hydra loads it anew

    if isinstance(launcher, JoblibLauncher):
        launcher.joblib["initializer"] = set_up_worker
