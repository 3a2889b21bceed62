"""Show the runs of a sweep as a table for a terminal."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lnexp.printable import first_few
from lnexp.runs.folder import find_folders
from lnexp.runs.progress import Progress, clock, progress
from lnexp.runs.sweep import Sweep, SweepRun, names_of
from lnexp.tasks import load_task
from lnexp.terminal import filled

#: By state, from what a person wants to see first to what can wait.
COLOURS = {
    "running": "cyan", "failed": "red", "malformed": "red", "interrupted": "magenta", "diverged": "yellow",
    "waiting": "dim", "finished": "green",
}  # fmt: skip
#: Lines around the rows: title, head, frame, how many rows are left out, the summary.
FRAME = 9


#: Runs that a summary names, at most.
MOST_NAMED = 6


class SweepStatus:
    """The runs of a sweep at one moment.

    Args:
        sweep: its runs.
        runs_dir: where run folders lie.
        known: the progress of runs whose files need not be read, by identity.
    """

    def __init__(self, sweep: Sweep, runs_dir: str | Path, known: Mapping[str, Progress] = MappingProxyType({})):
        folders = find_folders(runs_dir)
        self.sweep = sweep
        self._names = names_of(sweep.members)
        self.runs = [
            (member, known.get(member.identity) or progress(member, folders.get(member.identity), runs_dir))
            for member in sweep.members
        ]
        paces = [run.seconds_an_epoch for _, run in self.runs if run.seconds_an_epoch]
        self._pace = sum(paces) / len(paces) if paces else None
        updates = [run.updates / run.epochs for _, run in self.runs if run.epochs]
        self._updates_an_epoch = sum(updates) / len(updates) if updates else None

    @property
    def done(self) -> dict[str, Progress]:
        """The progress of the runs that are done, by identity: it changes no more unless they are trained again."""
        return {member.identity: run for member, run in self.runs if run.is_done}

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return all(run.is_over for _, run in self.runs)

    def has_all_of(self, recipe: str) -> bool:
        """Return whether the sweep has runs of a recipe, all of them done; a failed one may be trained again."""
        of_it = [run for member, run in self.runs if recipe in member.recipes]
        return bool(of_it) and all(run.is_done for run in of_it)

    def table(self, height: int | None = None) -> Group:
        """Return a table with a row for each run, and a line on all of them.

        Args:
            height: the lines of the terminal; where runs do not fit, those that matter most now are shown.
        """
        columns = ("arm", "seed", "state", "done", self._score_title(), "tokens/s", "left")
        table = Table(*columns, title=Text(self.sweep.title), title_justify="left", pad_edge=False)
        for column in table.columns[3:]:
            column.justify = "right"
        shown = self.runs
        if height is not None:
            shown = sorted(self.runs, key=lambda row: list(COLOURS).index(row[1].state))[: max(1, height - FRAME)]
        for member, run in shown:
            table.add_row(*self._row(member, run))
        more = len(self.runs) - len(shown)
        return Group(table, *([f"… and {more} more"] if more else []), self.summary())

    def summary(self) -> str:
        """Return a line as ``12 of 21 runs done (2 running, 1 diverged, 7 waiting, 11 finished); about 3:20 left``."""
        counts = Counter(run.state for _, run in self.runs)
        states = ", ".join(f"{counts[state]} {state}" for state in COLOURS if counts[state])
        left = self._seconds_left()
        done = sum(run.is_done for _, run in self.runs)
        return f"{done} of {len(self.runs)} runs done ({states}){f'; about {clock(left)} left' if left else ''}"

    def footer(self) -> str:
        """Return a short line as ``12 of 42 done, 2 running, 1 diverged, 27 waiting, 14 min left; make status``."""
        counts = Counter(run.state for _, run in self.runs)
        states = [f"{counts[state]} {state}" for state in COLOURS if counts[state] and state != "finished"]
        left = self._seconds_left()
        time_left = [f"{max(1, round(left / 60))} min left"] if left else []
        done = f"{sum(run.is_done for _, run in self.runs)} of {len(self.runs)} done"
        return f"{', '.join([done, *states, *time_left])}; make status"

    def ended(self) -> str:
        """Return a few lines on a sweep that is over: how many runs are done, which are not, and what to do next."""
        names = {
            "to train again": [self._run_name(member) for member, run in self.runs if not run.is_done],
            "diverged": [self._run_name(member) for member, run in self.runs if run.state == "diverged"],
        }
        has_recipes = any(member.recipes for member, _ in self.runs)
        reading = "make verify RESULTS=results/local for verdicts; " if has_recipes else ""
        lines = [
            f"{self.sweep.title}: over. {self.summary()}",
            *(f"{title}: {first_few(of_it, MOST_NAMED)}" for title, of_it in names.items() if of_it),
            f"next: {reading}python scripts/status.py --all for every run",
        ]
        return "\n".join(map(filled, lines))

    def _score_title(self) -> str:
        titles = {load_task(member.task).score.title for member, _ in self.runs}
        return titles.pop() if len(titles) == 1 else "score"

    def _row(self, member: SweepRun, run: Progress) -> tuple[str | Text, ...]:
        name = Text(self._name(member))
        if len(member.arms) > 1:
            name.append(f" +{len(member.arms) - 1}", style="dim")
        state = Text(run.state, style=COLOURS[run.state])
        if run.why:
            state.append(f": {run.why}", style="dim")
        left = self._run_seconds_left(member, run) if run.state == "running" else None
        return (
            name,
            str(member.seed),
            state,
            member.length.words(run.epochs, run.updates) if run.epochs else "",
            "" if run.score is None else load_task(member.task).score.text(run.score),
            "" if run.tokens_per_second is None else f"{run.tokens_per_second:,.0f}",
            "" if left is None else clock(left),
        )

    def _run_seconds_left(self, member: SweepRun, run: Progress) -> float | None:
        pace = run.seconds_an_epoch or self._pace
        left = member.length.epochs_left(run.epochs, run.updates, self._updates_an_epoch)
        return None if pace is None else pace * left

    def _seconds_left(self) -> float | None:
        """Return the seconds left of the sweep, at its present pace and processes; None where nothing runs."""
        running = sum(run.state == "running" for _, run in self.runs)
        if not running or self._pace is None:
            return None
        left = [self._run_seconds_left(member, run) or 0.0 for member, run in self.runs if not run.is_over]
        return max(sum(left) / running, *left)

    def _name(self, member: SweepRun) -> str:
        """Return what a run is called beside its seed."""
        name = self._names[member.identity].removesuffix(f"s{member.seed}").rstrip()
        return member.arms[0] if member.arms else name

    def _run_name(self, member: SweepRun) -> str:
        return f"{self._name(member)} s{member.seed}"
