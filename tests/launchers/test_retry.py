"""Whatever dies in a round, the next one takes it up; what cannot be done is said."""

import threading
from contextlib import ExitStack

import pytest
from hydra.core.utils import JobReturn, JobStatus

from lnexp.errors import UserError
from lnexp.launchers.retry import DEATHS, LostJobError, Planned, RepeatedLaunch
from lnexp.runs.folder import RunFolder
from lnexp.runs.lock import RunBusyError, held

pytestmark = pytest.mark.slow


class FakeLauncher:
    """Does with each run what the test says, and writes down what it was asked for."""

    def __init__(self, runs_dir, behaviour=None):
        self.runs_dir, self.behaviour, self.rounds = runs_dir, behaviour or {}, []

    def folder(self, run) -> RunFolder:
        path = self.runs_dir / "adhoc" / f"name-{run}"
        path.mkdir(parents=True, exist_ok=True)
        return RunFolder(path)

    def __call__(self, jobs):
        self.rounds.append([run for (run,) in jobs])
        return [self.work(run) for (run,) in jobs]

    def work(self, run):
        fate = self.behaviour.get(run, [])
        fate = fate.pop(0) if fate else "finished"
        if fate == "dies":
            self.folder(run).set_status("running", why=f"try {len(self.rounds)}")
            raise RuntimeError("a worker process was terminated")
        job = JobReturn(status=JobStatus.COMPLETED)
        if isinstance(fate, LostJobError) and fate.args == ("begun",):
            self.folder(run).set_status("running", why=f"try {len(self.rounds)}")
        if isinstance(fate, Exception):
            job.status = JobStatus.FAILED
            job._return_value = fate
        else:
            self.folder(run).set_status("finished")
        return job


def launched(tmp_path, launcher, names, force=False) -> RepeatedLaunch:
    made = RepeatedLaunch([Planned(name, f"run {name}", [name]) for name in names], launcher, tmp_path, force)
    made.run()
    return made


def test_each_run_is_launched_once(tmp_path):
    launcher = FakeLauncher(tmp_path)
    done = launched(tmp_path, launcher, ["a", "b", "c"])
    assert launcher.rounds == [["a", "b", "c"]]
    assert not done.failures
    assert len(done.returns) == 3


def test_a_failure_is_named_and_takes_none_along(tmp_path):
    launcher = FakeLauncher(tmp_path, {"b": [UserError("no such thing")], "c": [ValueError("odd")]})
    done = launched(tmp_path, launcher, ["a", "b", "c", "d"])
    assert done.failures == {"run b": "no such thing", "run c": "ValueError: odd (see its train.log)"}
    assert len(launcher.rounds) == 1


def test_after_a_death_the_rest_goes_on_and_the_dead_comes_last(tmp_path):
    launcher = FakeLauncher(tmp_path, {"b": ["dies"]})
    assert not launched(tmp_path, launcher, ["a", "b", "c"]).failures
    assert launcher.rounds == [["a", "b", "c"], ["c"], ["b"]]


@pytest.mark.parametrize("lost", ["begun", "not begun"])
def test_of_jobs_that_are_collected_one_by_one_the_lost_alone_are_launched_again(tmp_path, lost):
    launcher = FakeLauncher(tmp_path, {"b": [LostJobError(lost)]})
    assert not launched(tmp_path, launcher, ["a", "b", "c"]).failures
    assert launcher.rounds == [["a", "b", "c"], ["b"]]
    launcher = FakeLauncher(tmp_path, {"d": [LostJobError(lost)] * 9})
    assert launched(tmp_path, launcher, ["d"]).failures == {"run d": f"its process died {DEATHS} times ({lost})"}


def test_what_died_is_not_trained_afresh_again(tmp_path):
    died = Planned("a", "run a", ["seed=1", "force=true"])
    assert died.resumed() == Planned("a", "run a", ["seed=1"])
    said = []

    def launch(jobs):
        said.extend(jobs)
        folder = RunFolder(tmp_path / "adhoc" / "name-a")
        folder.path.mkdir(parents=True, exist_ok=True)
        if len(said) == 1:
            folder.set_status("running")
            raise RuntimeError("killed")
        return [JobReturn(status=JobStatus.COMPLETED)]

    RepeatedLaunch([died], launch, tmp_path, force=True).run()
    assert said == [["seed=1", "force=true"], ["seed=1"]]


def test_what_dies_again_and_again_is_tried_alone_and_given_up(tmp_path):
    launcher = FakeLauncher(tmp_path, {"b": ["dies"] * 9, "c": ["dies", "dies"]})
    done = launched(tmp_path, launcher, ["a", "b", "c", "d"])
    assert done.failures == {"run b": f"its process died {DEATHS} times (RuntimeError)"}
    assert all(len(batch) == 1 for batch in launcher.rounds[-2:]), "the last tries are alone"
    assert RunFolder(tmp_path / "adhoc/name-c").is_done


def test_a_launcher_that_raises_for_a_failed_run_is_believed(tmp_path):
    launcher = FakeLauncher(tmp_path)

    def raising(jobs):
        for (run,) in jobs:
            if run == "b":
                launcher.folder(run).set_status("failed", why="no such thing")
                raise RuntimeError("a job failed")
            launcher.work(run)

    done = RepeatedLaunch([Planned(name, f"run {name}", [name]) for name in "abc"], raising, tmp_path, force=False)
    with pytest.raises(TypeError):  # such a launcher has no returns
        done.run()
    assert done.failures == {"run b": "no such thing"}


def test_a_launcher_that_starts_nothing_says_so_itself(tmp_path):
    def broken(jobs):
        raise OSError("no queue")

    with pytest.raises(OSError, match="no queue"):
        launched(tmp_path, broken, ["a"])


def test_what_another_process_trains_is_waited_for(tmp_path):
    launcher = FakeLauncher(tmp_path)
    with ExitStack() as stack:
        stack.enter_context(held(tmp_path, "a"))

        def finish():
            launcher.folder("a").set_status("finished")
            stack.close()

        threading.Timer(0.5, finish).start()
        done = launched(tmp_path, launcher, ["a", "b"])
    assert launcher.rounds == [["b"]]
    assert not done.failures


def test_what_another_process_leaves_is_taken_over(tmp_path):
    launcher = FakeLauncher(tmp_path)
    with ExitStack() as stack:
        stack.enter_context(held(tmp_path, "a"))
        threading.Timer(0.5, stack.close).start()
        launched(tmp_path, launcher, ["a", "b"])
    assert launcher.rounds == [["b"], ["a"]]


def test_a_run_that_turns_out_to_be_busy_is_tried_again(tmp_path):
    launcher = FakeLauncher(tmp_path, {"a": [RunBusyError("busy")]})
    assert not launched(tmp_path, launcher, ["a", "b"]).failures
    assert launcher.rounds == [["a", "b"], ["a"]]


def test_force_trains_what_is_done_but_only_once(tmp_path):
    launcher = FakeLauncher(tmp_path, {"c": ["dies"]})
    for name in ("a", "b", "c"):
        launcher.folder(name).set_status("finished", why="long ago")
    assert not launched(tmp_path, launcher, ["a", "b", "c"], force=True).failures
    assert launcher.rounds == [["a", "b", "c"], ["c"]]


def starting_from(tmp_path, launcher, after: dict[str, str]) -> RepeatedLaunch:
    runs = [Planned(name, f"run {name}", [name], after=start) for name, start in after.items()]
    made = RepeatedLaunch(runs, launcher, tmp_path, force=False)
    made.run()
    return made


def test_a_run_is_launched_after_the_one_that_it_starts_from(tmp_path):
    launcher = FakeLauncher(tmp_path)
    starting_from(tmp_path, launcher, {"b": "a", "a": "", "c": "", "d": "done long ago"})
    assert launcher.rounds == [["a", "c", "d"], ["b"]]


def test_a_run_whose_start_has_failed_is_left_to_say_so(tmp_path):
    refusal = UserError("start.run=a: no such run")
    launcher = FakeLauncher(tmp_path, {"a": [UserError("no such thing")], "b": [refusal]})
    done = starting_from(tmp_path, launcher, {"a": "", "b": "a"})
    assert done.failures == {"run a": "no such thing", "run b": str(refusal)}


def test_a_run_waits_for_a_start_that_another_process_trains(tmp_path):
    launcher = FakeLauncher(tmp_path)
    with ExitStack() as stack:
        stack.enter_context(held(tmp_path, "a"))

        def finish():
            launcher.folder("a").set_status("finished")
            stack.close()

        threading.Timer(0.5, finish).start()
        starting_from(tmp_path, launcher, {"a": "", "b": "a"})
    assert launcher.rounds == [["b"]]
