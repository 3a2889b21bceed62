"""Write the folder of results of a recipe's runs: tables, figures, verdicts and provenance."""

from pathlib import Path

from lnexp.figures.folder import draw_all
from lnexp.files import write_whole
from lnexp.recipes.load import write_copy
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import write_table
from lnexp.results.evidence.mixed_code import mixed_code
from lnexp.results.evidence.provenance import commits_of, of_runs, recorded_plan, write_provenance
from lnexp.results.evidence.published_evidence import published_evidence
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.planned_seeds import planned_seeds
from lnexp.results.judging.verdict_file import write_verdicts
from lnexp.results.measures import outcomes
from lnexp.results.pages.table_page import table_page
from lnexp.results.tables import run_tables
from lnexp.results.tables.early_numbers import early_table
from lnexp.results.tables.snapshots_table import snapshots_table


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
    write_table(folder / "runs.csv", run_tables.runs_table(runs))
    write_table(folder / "epochs.csv", run_tables.epochs_table(runs))
    further = {
        "outcomes.csv": outcomes.outcomes_table(recipe, runs) if recipe.outcomes else None,
        "probes.csv": run_tables.probes_table(over),
        "snapshots.csv": None if recipe.sweep else snapshots_table(over),  # a sweep has thousands of runs
        "early.csv": early_table(over) if recipe.sweep else None,
    }
    for name, table in further.items():
        if table is None or table.empty:
            (folder / name).unlink(missing_ok=True)  # of runs that were here before
        else:
            write_table(folder / name, table)
    commits = commits_of(run.environment for run in runs if run.counts)
    recorded = recorded_plan(folder, {run.identity for run in over})
    planned = planned_seeds(recipe, cfg.profile, commits, recorded)
    malformed = [f"{run.job.arm.name}, seed {run.job.seed}: {run.problem}" for run in runs if run.problem]
    origin = Origin(cfg.profile, cfg.data.name, scope(runs), command, commits, planned, malformed)
    verdicts = judge_all(recipe, runs, origin)
    write_verdicts(folder, verdicts)
    write_provenance(folder, of_runs(runs), planned)
    evidence = published_evidence(recipe, folder, verdicts.papers)
    write_whole(folder / "table.md", table_page(folder, recipe, evidence, verdicts, mixed_code(runs)))
    draw_all(recipe, folder)
    return folder


def scope(runs: list[RunResult]) -> str:
    """Return what the runs were trained on, in words: profile, corpus, how much of it, and options of the user."""
    cfg = runs[0].cfg
    sizes = {words for run in runs if (words := run_tables.trained_on(run))}
    size = f", {' or '.join(sorted(sizes))}" if sizes else ""
    own = [option for option in runs[0].own_options if not option.startswith(("data=", "data."))]  # the name says it
    with_options = f", with {' '.join(own)}" if own else ""
    fixed = any(option.startswith("order_seed=") for option in own)
    alike = ", one order of the data for all seeds" if fixed else ""
    return f"profile {cfg.profile}, data {cfg.data.name}{size}{with_options}{alike}"
