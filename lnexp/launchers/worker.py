"""Set up the processes that launchers start."""

from functools import cache

from lnexp.configuration import register_resolvers
from lnexp.processes import end_with_parent


@cache
def set_up_worker() -> None:
    """Prepare this process, which a launcher started, once: it ends with its parent, and can resolve configs."""
    end_with_parent()
    register_resolvers()
