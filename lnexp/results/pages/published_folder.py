"""Read a folder of published results for templates of pages: measures of arms, verdicts, what made them."""

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import cast

import pandas as pd
from tabulate import tabulate

from lnexp.corpora.names import corpus_name
from lnexp.errors import UNREADABLE, UserError
from lnexp.numerics import numerics_of
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table, rows_over
from lnexp.results.evidence.by_arm import counted_by_arm
from lnexp.results.evidence.contract import CountedRun, Evidence
from lnexp.results.evidence.provenance import Provenance, commit_of, read_provenance
from lnexp.results.evidence.published_evidence import published_evidence
from lnexp.results.judging.marks import mark_of
from lnexp.results.judging.questions import measures_of
from lnexp.results.judging.verdict_file import JudgedClaim, read_verdicts
from lnexp.results.measures.against_baseline import geometric_interval, geometric_range, nll_ratios
from lnexp.results.measures.success import Scores, divided_arms, line_of, scores_by_arm, succeeds
from lnexp.results.pages.along_training import AlongTraining
from lnexp.results.pages.outcomes_page import for_people
from lnexp.results.pages.published_sweep import PublishedSweep
from lnexp.results.statistics.in_order import share_in_order
from lnexp.results.statistics.intervals import Interval, Range, interval, spread_of
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: What is raised where tables are damaged.
DAMAGED = (UserError, StopIteration, *UNREADABLE)


class PublishedFolder:
    """A folder of results, as a template asks for it.

    Args:
        path: ``<profile>/<data>/<recipe>`` below the folder of all results.
    """

    def __init__(self, path: Path):
        self._path = path
        self._verdicts = read_verdicts(path / "verdicts.json")

    @cached_property
    def recipe(self) -> Recipe:
        return recipe_of_results(self._path, self._verdicts.recipe)

    @cached_property
    def _by_arm(self) -> dict[str, list[Evidence]]:
        return counted_by_arm(published_evidence(self.recipe, self._path, self._verdicts.papers))

    @property
    def figures(self) -> set[str]:
        """The names of its figures."""
        return {path.stem for path in self._path.glob("*.png")}

    @property
    def scope(self) -> str:
        """What the runs were trained on, in words."""
        return self._verdicts.scope

    @property
    def corpus(self) -> str:
        """The name of the corpus."""
        return corpus_name(self._path.parent.name)

    @property
    def known(self) -> str:
        """Which results were known when the claims were written."""
        return self._verdicts.known

    @property
    def doubt(self) -> str:
        """What speaks against reading the results as the claims do."""
        return self._verdicts.doubt

    @property
    def seeds(self) -> str:
        """The seeds, as ``seeds 21 to 30`` where none is left out."""
        return named_seeds(one.job.seed for of_arm in self._by_arm.values() for one in of_arm)

    @property
    def planned_elsewhere(self) -> str:
        """The planned seeds that are not here; empty where no others than planned ones are."""
        planned = self.recipe.planned_at(self._path.parent.parent.name)
        shown = {one.job.seed for of_arm in self._by_arm.values() for one in of_arm}
        return "" if shown <= set(planned) else named_seeds(set(planned) - shown)

    @property
    def unfinished(self) -> str:
        """How many of the planned seeds its arms have, as ``1 to 2 of 5``; empty where all have all, and of probes.

        Also where :attr:`planned_elsewhere` says that others than these are planned.
        """
        planned = 0 if self.planned_elsewhere else max((claim.planned for claim in self.claims), default=0)
        counts = sorted({len(self._by_arm.get(arm, [])) for arm in self.recipe.arms})
        if self.recipe.measurement or counts[0] >= planned:
            return ""
        return f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} of {planned}"

    @cached_property
    def _provenance(self) -> Provenance:
        return read_provenance(self._path)

    @property
    def commits(self) -> str:
        """The commits of the code, shortened."""
        commits = filter(None, map(commit_of, self._provenance.environments))
        return ", ".join(sorted({commit[:7] for commit in commits})) or "unknown"

    @property
    def numerics(self) -> list[int]:
        """The versions of the numerics, ascending."""
        return sorted({numerics_of(one) for one in self._provenance.environments})

    @cached_property
    def updates(self) -> str:
        """How many updates the longest run made, as ``16,512``."""
        return f"{int(read_table(self._path / 'epochs.csv')['update'].max()):,}"

    def updates_of(self, arm: str) -> str:
        """Return how many updates the longest run of an arm made, as ``2,840``."""
        epochs = read_table(self._path / "epochs.csv")
        return f"{int(epochs.loc[epochs['arm'] == arm, 'update'].max()):,}"

    @property
    def scale(self) -> str:
        """Model, corpus and length of the runs, in a few words."""
        runs = read_table(self._path / "runs.csv")
        return f"{rows_over(runs)['trained_on'].iloc[0]}, {self.layers_and_updates}"

    @property
    def layers_and_updates(self) -> str:
        """The models and the length of the runs, as ``6-6 layers of width 64, 480 updates``."""
        sides = load_task(self.recipe.task).sides
        every = [run.settings for run in self._provenance.runs.values()]
        depths = sorted({tuple(model[f"model.{side}_layers"] for side in sides) for model in every})
        widths = sorted({model["model.encoder_embed_dim"] for model in every})
        layers = ", ".join("-".join(map(str, depth)) for depth in depths)
        lengths = read_table(self._path / "epochs.csv").groupby("identity")["update"].max()
        upto = "up to " if lengths.nunique() > 1 else ""
        return f"{layers} layers of width {', '.join(map(str, widths))}, {upto}{self.updates} updates"

    def claim(self, name: str) -> JudgedClaim:
        """Return a claim by its id. Raises UserError where there is none."""
        for claim in self.claims:
            if claim.id == name:
                return claim
        raise UserError(f"{self._path}: has no claim {name}")

    def mark(self, name: str) -> str:
        """Return a claim's verdict as ``✓``, ``✗`` or ``?``, in parentheses where tallies do not count the claim."""
        return mark_of(self.claim(name))

    @cached_property
    def core_seconds(self) -> dict[str, tuple[int, float]]:
        """The seed of every run on a CPU that is over, and the seconds of one core that its training took, by identity.

        There is none in a folder of a probe, nor in tables that are older than that column.
        """
        path = self._path / "runs.csv"
        if not path.exists() or "core_seconds" not in (runs := read_table(path)):
            return {}
        runs = rows_over(runs[runs["core_seconds"].notna()])
        rows = zip(runs["identity"], runs["seed"], runs["core_seconds"], strict=True)
        return {identity: (int(seed), float(seconds)) for identity, seed, seconds in rows}

    @property
    def machine(self) -> str:
        """What the runs were made on."""
        return ", ".join(sorted({str(one["cpu"]) for one in self._provenance.environments if one.get("cpu")}))

    def setting(self, arm: str, column: str) -> str:
        """Return a setting of an arm's runs, a column of ``runs.csv``, as ``0.002`` or ``1,000``."""
        runs = read_table(self._path / "runs.csv")
        (value,) = runs.loc[runs["arm"] == arm, column].unique()
        return f"{value:,g}"

    def interval(self, measure: str, arm: str) -> Interval:
        """Return a measure of an arm: its mean over seeds with the 95% interval."""
        found = interval(self.values(measure, arm))
        if found is None:
            raise UserError(f"{self._path}: has no {measure} of {arm}")
        return found

    def mean(self, measure: str, arm: str, places: int = 1) -> str:
        """Return the mean of a measure over seeds, with so many decimal places."""
        return f"{self.interval(measure, arm).mean:z.{places}f}"

    def range(self, measure: str, arm: str, places: int = 1) -> str:
        """Return the mean of a measure over seeds with its 95% interval, with so many decimal places.

        Where some runs of the arm succeed and others do not, or the interval would reach beyond what is possible, it is
        the least and the greatest of them instead. Runs that diverged without a value are counted beside it.
        """
        runs = self._by_arm.get(arm, [])
        lost = sum(run.diverged for run in runs if measures_of(self.recipe)[measure](run) is None)
        if runs and lost == len(runs):
            return f"–; {lost} diverged"
        return f"{self._known_range(measure, arm, places)}{f'; {lost} diverged' if lost else ''}"

    def _known_range(self, measure: str, arm: str, places: int) -> str:
        """Return the mean of a measure with its interval or range, of the runs that have it."""
        score = load_task(self.recipe.task).score
        found = spread_of(self.values(measure, arm), arm in self.divided, *score.bounds_of(measure))
        if found is None:
            raise UserError(f"{self._path}: has no {measure} of {arm}")
        if isinstance(found, Range):
            return f"{found.mean:z.{places}f} ({found.least:z.{places}f} to {found.greatest:z.{places}f})"
        if found.low is None or found.high is None:
            return f"{found.mean:z.{places}f}"
        return f"{found.mean:z.{places}f} [{found.low:z.{places}f}, {found.high:z.{places}f}]"

    def ratio(self, measure: str, arm: str, base: str, places: int = 2) -> str:
        """Return the mean of a measure over seeds as a share of that of another arm."""
        return f"{self.interval(measure, arm).mean / self.interval(measure, base).mean:z.{places}f}"

    def against(self, baseline: str, arm: str) -> str:
        """Return by how many times the last nll of an arm is that of a baseline, another arm, seed by seed.

        It is the geometric mean with its 95% interval, as ``0.13 [0.05, 0.37] (n=6)``, or with its range where runs of
        either arm succeed and others do not; a dash where no seed has both.
        """
        runs = cast(dict[str, list[CountedRun]], self._by_arm)
        ratios = nll_ratios(runs.get(arm, []), runs.get(baseline, []))
        spread = geometric_range if {arm, baseline} & self.divided else geometric_interval
        return str(spread(ratios) or "–")

    @cached_property
    def _runs(self) -> list[CountedRun]:
        return cast(list[CountedRun], [one for of_arm in self._by_arm.values() for one in of_arm])

    @cached_property
    def divided(self) -> set[str]:
        """The arms of which some runs succeed and others do not."""
        return divided_arms(self.recipe, self._runs)

    def trained(self, arm: str) -> str:
        """Return how many runs of an arm succeed (see :mod:`lnexp.results.measures.success`), as ``9 of 10``."""
        return "{} of {}".format(*self.successes(arm))

    def successes(self, arm: str) -> tuple[int, int]:
        """Return how many runs of an arm succeed, and how many there are."""
        of_arm = self._scores[arm]
        line = line_of(self.recipe, self._scores)
        return sum(succeeds(score, diverged, line) for score, diverged in of_arm), len(of_arm)

    def pairs_in_order(self, measure: str, greater: bool, arms: Collection[str] = ()) -> str:
        """Return for how many of the pairs of a run that fails and one that succeeds a measure is greater where the run
        fails, or smaller, as ``97%``; a tie is half a pair.

        Args:
            measure: its name; runs without it are left out.
            greater: whether it is to be greater.
            arms: of which runs are taken; all where there is none.
        """
        line, of = line_of(self.recipe, self._scores), measures_of(self.recipe)[measure]
        rows = [
            (of(run), not succeeds(*score, line))
            for run in self._runs
            for arm, scores in scores_by_arm(self.recipe, [run]).items()
            for score in scores
            if not arms or arm in arms
        ]
        known = pd.DataFrame(rows, columns=["said", "failed"]).dropna()
        share = share_in_order(known["failed"], known["said"])
        if share is None:
            raise UserError(f"{self._path}: all of its runs succeed, or none does")
        return f"{share if greater else 1 - share:.0%}"

    @property
    def line(self) -> str:
        """The best score that a run has to exceed to succeed."""
        return load_task(self.recipe.task).score.text(line_of(self.recipe, self._scores))

    @cached_property
    def _scores(self) -> Scores:
        return scores_by_arm(self.recipe, self._runs)

    @property
    def arms(self) -> list[str]:
        """The names of the arms that have runs, in the recipe's order."""
        return [name for name in self.recipe.arms if name in self._by_arm]

    @property
    def claims(self) -> list[JudgedClaim]:
        """All claims, as they were judged."""
        return self._verdicts.claims

    @property
    def outcomes(self) -> str:
        """The table of who trains without warm-up and with it, in Markdown."""
        if not self.recipe.outcomes:
            return ""
        headers, rows = for_people(self.recipe, read_table(self._path / "outcomes.csv"))
        return tabulate(rows, headers=headers, tablefmt="github")

    @cached_property
    def sweep(self) -> PublishedSweep:
        """Its sweep; the recipe has one."""
        return PublishedSweep(self.recipe, self._runs, self._path)

    @cached_property
    def along(self) -> AlongTraining:
        """What its runs had at updates of their snapshots."""
        return AlongTraining(self._path)

    def extremes(self, measure: str, arms: Sequence[str], places: int = 1) -> str:
        """Return the least and the greatest value of a measure over all runs of arms, as ``0.1 to 7.6``."""
        values = [value for arm in arms for value in self.values(measure, arm)]
        return f"{min(values):z.{places}f} to {max(values):z.{places}f}"

    def values(self, measure: str, arm: str) -> list[float]:
        """Return a measure of every run of an arm that has it."""
        values = [measures_of(self.recipe)[measure](one) for one in self._by_arm.get(arm, [])]
        return [value for value in values if value is not None]


def readable_folder(path: Path) -> PublishedFolder | None:
    """Return a folder of trained runs; None where its tables do not say what was trained and how it ended."""
    folder = PublishedFolder(path)
    try:
        _ = folder.scale, folder.divided
        settings = read_table(path / "runs.csv").groupby("arm")[["lr_max", "warmup_updates"]].nunique(dropna=False)
    except DAMAGED:
        return None
    return folder if folder.arms and settings.eq(1).all(axis=None) else None
