"""Define the interface of evidence: a run that was collected, one of published tables, or a probe."""

from typing import Protocol

from lnexp.recipes.jobs import Job
from lnexp.tasks.contract import MeasuredRun


class Evidence(Protocol):
    """What was measured of one arm with one seed: a run, or a probe."""

    @property
    def job(self) -> Job: ...

    @property
    def identity(self) -> str: ...

    @property
    def counts(self) -> bool: ...

    @property
    def is_the_papers(self) -> bool: ...

    @property
    def diverged(self) -> bool: ...


class CountedRun(MeasuredRun, Protocol):
    """A run of a recipe that measures are computed from."""

    @property
    def job(self) -> Job: ...

    @property
    def counts(self) -> bool: ...
