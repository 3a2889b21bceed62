"""Write the folder of results of a recipe's runs: tables, figures, verdicts and provenance."""

from pathlib import Path

import pandas as pd
from tabulate import tabulate

from lnexp.figures.along import NAME as ALONG
from lnexp.figures.by_arm import NAME as BY_ARM
from lnexp.figures.by_arm import drawn_by_arm
from lnexp.figures.by_checkpoint import NAME as BY_CHECKPOINT
from lnexp.figures.folder import draw_all
from lnexp.figures.sweep import FIGURES as SWEEP
from lnexp.files import write_whole
from lnexp.numerics import numerics_of
from lnexp.published import write_table
from lnexp.recipes.load import write_copy
from lnexp.recipes.recipe import Recipe
from lnexp.results import outcomes, tables
from lnexp.results.claims import Origin, judge_all
from lnexp.results.collect import RunResult
from lnexp.results.early_numbers import early_table
from lnexp.results.made_with import commit_name
from lnexp.results.mixed_code import mixed_code
from lnexp.results.planned_seeds import planned_seeds
from lnexp.results.prediction_page import prediction_page
from lnexp.results.provenance import commits_of, of_runs, recorded_plan, write_provenance
from lnexp.results.snapshots_table import snapshots_table
from lnexp.results.success import divided_arms
from lnexp.results.sweep_page import sweep_page
from lnexp.results.verdict_file import write_verdicts
from lnexp.results.verdict_pages import with_verdicts

HOW_SPREAD = """\
Mean over seeds with its 95% interval (Student's t); where some runs of an arm train and others do not, with the least \
and the greatest of its runs in parentheses."""


def write_results(recipe: Recipe, runs: list[RunResult], command: str, results_dir: Path) -> Path:
    """Write tables, figures and verdicts of one recipe, and return their folder.

    Args:
        recipe: the recipe.
        runs: all its runs at one profile and corpus, missing ones included.
        command: what a reader would type for the same.
        results_dir: the root of all results.
    """
    cfg = runs[0].cfg
    folder = results_dir / cfg.profile / cfg.data.name / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    write_copy(recipe, folder)
    over = [run for run in runs if run.counts]
    write_table(folder / "runs.csv", tables.runs_table(runs))
    write_table(folder / "epochs.csv", tables.epochs_table(runs))
    if recipe.outcomes:
        write_table(folder / "outcomes.csv", outcomes.outcomes_table(recipe, runs))
    probes = tables.probes_table(over)
    if not probes.empty:
        write_table(folder / "probes.csv", probes)
    snapshots = pd.DataFrame() if recipe.sweep else snapshots_table(over)  # a sweep has thousands of runs
    if not snapshots.empty:
        write_table(folder / "snapshots.csv", snapshots)
    early = early_table(over) if recipe.sweep else pd.DataFrame()
    if not early.empty:
        write_table(folder / "early.csv", early)
    commits = commits_of(run.environment for run in runs if run.counts)
    recorded = recorded_plan(folder, {run.identity for run in over})
    planned = planned_seeds(recipe, cfg.profile, commits, recorded)
    malformed = [f"{run.job.arm.name}, seed {run.job.seed}: {run.problem}" for run in runs if run.problem]
    origin = Origin(cfg.profile, cfg.data.name, scope(runs), command, commits, planned, malformed)
    verdicts = judge_all(recipe, runs, origin)
    write_verdicts(folder, verdicts)
    write_provenance(folder, of_runs(runs), planned)
    write_whole(
        folder / "table.md", with_verdicts(_table_page(recipe, runs, command, not snapshots.empty), verdicts, folder)
    )
    draw_all(recipe, folder)
    return folder


def scope(runs: list[RunResult]) -> str:
    """Return what the runs were trained on, in words: profile, corpus, how much of it, and options of the user."""
    cfg = runs[0].cfg
    sizes = {words for run in runs if (words := tables.trained_on(run))}
    size = f", {' or '.join(sorted(sizes))}" if sizes else ""
    own = [option for option in runs[0].own_options if not option.startswith(("data=", "data."))]  # the name says it
    with_options = f", with {' '.join(own)}" if own else ""
    fixed = any(option.startswith("order_seed=") for option in own)
    alike = ", one order of the data for all seeds" if fixed else ""
    return f"profile {cfg.profile}, data {cfg.data.name}{size}{with_options}{alike}"


def _table_page(recipe: Recipe, runs: list[RunResult], command: str, has_snapshots: bool) -> str:
    task = runs[0].task
    devices = sorted({f"{run.environment['cpu']}, {run.environment['device']}" for run in runs if run.environment})
    rows = [
        {"arm": f"{arm['arm']} (`{arm['name']}`)"} | {key: arm[key] for key in arm if key not in ("arm", "name")}
        for arm in tables.arms_table(recipe, tables.runs_table(runs), divided_arms(recipe, runs))
    ]
    table = tabulate(rows, headers="keys", tablefmt="github")
    made = (
        task.score_note([run.end for run in runs]),
        f"Device: {'; '.join(devices) or 'none yet'}.",
        f"Commit (* with changes on top): {', '.join(_commits(runs)) or 'none yet'}.",
        f"Numerics: {', '.join(map(str, _numerics(runs))) or 'none yet'}.",
        *(f"Mixed code: {line}." for line in mixed_code(runs)),
    )
    problems = [f"- {run.job.arm.name}, seed {run.job.seed}: {run.problem}" for run in runs if run.problem]
    parts = [
        f"# {recipe.heading}",
        f"{scope(runs)}. Source: {recipe.source}. {recipe.reading}",
        f"{HOW_SPREAD} {task.test_note}",
        *([outcomes.outcomes_page(recipe, runs)] if recipe.outcomes else []),
        *(_sweep_parts(recipe, runs) if recipe.sweep else []),
        table,
        *([f"![by checkpoint]({BY_CHECKPOINT}.png)"] if any(run.counts and "start" in run.cfg for run in runs) else []),
        *([f"![final nll by arm]({BY_ARM}.png)"] if drawn_by_arm(recipe) and any(run.counts for run in runs) else []),
        *(["![curves](figure.png)"] if any(run.counts and run.epochs for run in runs) and not recipe.sweep else []),
        *(["![gradients by layer](gradients.png)"] if any(run.counts and run.probes for run in runs) else []),
        *(["![hidden states by layer](states.png)"] if any(map(_has_states, runs)) else []),
        *([f"![by layer along training]({ALONG}.png)"] if has_snapshots else []),
        " ".join(filter(None, made)),
        f"```\n{command}\n```",
        *(["Malformed runs:\n\n" + "\n".join(problems)] if problems else []),
    ]
    return "\n\n".join(parts) + "\n"


def _sweep_parts(recipe: Recipe, runs: list[RunResult]) -> list[str]:
    """Return the tables of a sweep and its figures; none before all arms have a run."""
    page = sweep_page(recipe, runs)
    pictures = (f"![{name.replace('_', ' ')}]({name}.png)" for name in SWEEP)
    return list(filter(None, [page, *pictures, prediction_page(recipe, runs)])) if page else []


def _has_states(run: RunResult) -> bool:
    return run.counts and any("output" in record for record in run.probes)


def _commits(runs: list[RunResult]) -> list[str]:
    """Return the commits that the runs were made with; a star marks one with changes on top."""
    return sorted({commit_name(state) for run in runs if (state := run.environment.get("git", {})).get("commit")})


def _numerics(runs: list[RunResult]) -> list[int]:
    """Return the versions of the numerics that the runs were made with."""
    return sorted({numerics_of(run.environment) for run in runs if run.environment})
