"""A sweep plans each run once, measured as all of its jobs ask."""

import pytest
from helpers import TINY

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.launchers.plan import Plan
from lnexp.runs.code import digests
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder

MEASURED = "diagnostics.at=[1,2]"


@pytest.fixture
def plan(where):
    """Plans jobs, given as their overrides."""
    return lambda *jobs: Plan.of([[*TINY, *where, *job] for job in jobs], compose, where[0].partition("=")[2])


@pytest.mark.parametrize("jobs", [([], [MEASURED]), ([MEASURED], []), ([], [], [MEASURED], [MEASURED])])
def test_a_run_of_several_jobs_is_measured_as_one_of_them_asks(plan, jobs):
    (missing,) = plan(*jobs).missing
    assert missing.overrides[-1] == MEASURED


def test_two_jobs_that_measure_one_run_in_two_ways_are_refused(plan):
    words = r"probes.every=5: another job has the same run, with other probes or diagnostics; sweep the two in two"
    with pytest.raises(UserError, match=words):
        plan([MEASURED], ["probes.every=5"])


def test_runs_that_are_over_and_lack_measurements_are_said(plan, where):
    cfg = compose([*TINY, *where])
    folder = RunFolder.of(cfg)
    folder.path.mkdir(parents=True)
    folder.write_config(cfg)
    folder.write_environment(environment("cpu", {}) | {"code": digests(cfg)})
    folder.set_status("finished")
    assert plan([]).notes == plan([], []).notes
    (note,) = set(plan([], [MEASURED]).notes) - set(plan([]).notes)
    assert note.endswith(": trained with other diagnostics; force=true trains it afresh with these")
