"""Make the ``table.md`` of a folder of results from the other files there, so that it can be compared with them."""

from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from lnexp.figures.names import (
    ALONG,
    BY_ARM,
    BY_CHECKPOINT,
    BY_DEPTH,
    CURVES,
    GRADIENTS,
    STATES,
    SWEEP,
    drawn_by_arm,
)
from lnexp.numerics import numerics_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import read_table
from lnexp.results.evidence.contract import Evidence
from lnexp.results.evidence.made_with import commit_name
from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.judging.verdict_file import Verdicts
from lnexp.results.measures.success import divided_arms
from lnexp.results.pages.markup import without_markup
from lnexp.results.pages.outcomes_page import outcomes_page
from lnexp.results.pages.prediction_page import prediction_page, read_early
from lnexp.results.pages.probe_page import probe_page
from lnexp.results.pages.sweep_page import sweep_page
from lnexp.results.pages.verdict_pages import verdicts_part
from lnexp.results.statistics.intervals import HOW_SPREAD
from lnexp.results.tables import run_tables
from lnexp.tasks import load_task


def table_page(
    folder: Path, recipe: Recipe, evidence: Sequence[Evidence], verdicts: Verdicts, mixed: Sequence[str]
) -> str:
    """Return the content of ``table.md``.

    Args:
        folder: of results, with its tables and ``provenance.json``.
        recipe: of the results.
        evidence: what the folder has on its arms, of :mod:`lnexp.results.evidence.published_evidence`.
        verdicts: of its claims.
        mixed: the lines of :func:`lnexp.results.evidence.mixed_code.mixed_code`, which no other file there has.
    """
    if recipe.measurement:
        parts = probe_page(recipe, folder, verdicts.scope)
    else:
        parts = _runs_page(recipe, [one for one in evidence if isinstance(one, PublishedRun)], folder, verdicts, mixed)
    command = [f"```\n{verdicts.command}\n```"] if verdicts.command else []
    malformed = ["Malformed runs:\n\n" + "\n".join(f"- {problem}" for problem in verdicts.malformed)]
    every = [*parts, *command, *(malformed if verdicts.malformed else []), *verdicts_part(verdicts, folder)]
    return without_markup("\n\n".join(every) + "\n")


def _runs_page(
    recipe: Recipe, runs: Sequence[PublishedRun], folder: Path, verdicts: Verdicts, mixed: Sequence[str]
) -> list[str]:
    task = load_task(recipe.task)
    over = [run for run in runs if run.counts]
    made_on = [run.environment for run in over if run.environment]
    devices = sorted({f"{environment['cpu']}, {environment['device']}" for environment in made_on})
    commits = sorted({commit_name(state) for one in made_on if (state := one.get("git", {})).get("commit")})
    rows = [
        {"arm": f"{arm['arm']} (`{arm['name']}`)"} | {key: arm[key] for key in arm if key not in ("arm", "name")}
        for arm in run_tables.arms_table(recipe, read_table(folder / "runs.csv"), divided_arms(recipe, runs))
    ]
    made = (
        task.score_note([run.end for run in runs]),
        f"Device: {'; '.join(devices) or 'none yet'}.",
        f"Commit (* with changes on top): {', '.join(commits) or 'none yet'}.",
        f"Numerics: {', '.join(map(str, sorted(set(map(numerics_of, made_on))))) or 'none yet'}.",
        *(f"Mixed code: {line}." for line in mixed),
    )
    return [
        f"# {recipe.heading}",
        f"{verdicts.scope}. Source: {recipe.source}. {recipe.reading}",
        f"{HOW_SPREAD} {task.test_note}",
        *([outcomes_page(recipe, runs)] if recipe.outcomes else []),
        *(_sweep_parts(recipe, runs, folder) if recipe.sweep else []),
        tabulate(rows, headers="keys", tablefmt="github"),
        *_figures(recipe, over, folder),
        " ".join(filter(None, made)),
    ]


def _figures(recipe: Recipe, over: Sequence[PublishedRun], folder: Path) -> list[str]:
    """Return the figures of runs that are over, as images."""
    started = any(option.startswith("start.") for run in over for option in run.settings)
    states = any("output" in record for run in over for record in run.probes)
    shown = (
        ("by checkpoint", BY_CHECKPOINT, started),
        ("final nll by arm", BY_ARM, bool(over) and drawn_by_arm(recipe)),
        (f"{'final nll' if recipe.sweep else 'best score'} by depth", BY_DEPTH, (folder / f"{BY_DEPTH}.png").exists()),
        ("curves", CURVES, not recipe.sweep and any(run.epochs for run in over)),
        ("gradients by layer", GRADIENTS, any(run.probes for run in over)),
        ("hidden states by layer", STATES, states),
        ("by layer along training", ALONG, (folder / "snapshots.csv").exists()),
    )
    return [f"![{title}]({name}.png)" for title, name, is_there in shown if is_there]


def _sweep_parts(recipe: Recipe, runs: Sequence[PublishedRun], folder: Path) -> list[str]:
    """Return the tables of a sweep and its figures, and what tells how a run ends; none before all arms have a run."""
    if not (page := sweep_page(recipe, runs)):
        return []
    pictures = (f"![{name.replace('_', ' ')}]({name}.png)" for name in SWEEP)
    return [page, *pictures, *filter(None, [prediction_page(recipe, runs, read_early(folder))])]
