"""The commands behind ``scripts/collect.py`` and ``scripts/verify.py``."""

import argparse
import json
import shlex
import shutil
import sys
from pathlib import Path

from lnexp.cli import one_line_errors
from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.recipes.command_line import check_overrides, split_recipes, with_corpus
from lnexp.recipes.load import load_recipe
from lnexp.results.collect import collect
from lnexp.results.verdicts import as_page, as_terminal_table, not_run, read_verdicts
from lnexp.results.write import RESULTS_DIR, write_results

EXIT_MALFORMED = 1


def collect_main() -> None:
    """``collect.py +recipe=fig2a[,…] [the overrides that the runs were launched with]``."""
    parser = argparse.ArgumentParser(description="Make tables, figures and verdicts of recipes from their run folders.")
    parser.add_argument("overrides", nargs="+", help="+recipe=NAME and the overrides of the sweep: profile=… data=… …")
    parser.add_argument("--results", type=Path, default=RESULTS_DIR, help="where results go (default: results/)")
    arguments = parser.parse_args()
    with one_line_errors():
        recipes, rest = split_recipes(arguments.overrides)
        if not recipes:
            raise UserError("which recipe? say +recipe=NAME")
        check_overrides(recipes, rest)
        for recipe in recipes:
            runs = collect(recipe, rest)
            said = with_corpus(recipe, runs[0].cfg.profile, rest)
            folder = write_results(recipe, runs, _command(recipe.name, said), arguments.results)
            over = sum(run.counts for run in runs)
            print(f"{recipe.name}: {over} of {len(runs)} runs are over; tables, figure and verdicts in {folder}")
        write_whole(arguments.results / "verdicts.md", as_page(read_verdicts(arguments.results)))


def _command(recipe: str, overrides: list[str]) -> str:
    """What a reader would type for the same results; where runs and data lie is the reader's own affair."""
    said = [override for override in overrides if not override.startswith(("runs_dir=", "data_dir="))]
    words = shlex.join([f"+recipe={recipe}", *said])
    return f"python scripts/train.py -m {words} hydra/launcher=joblib && python scripts/collect.py {words}"


def verify_main() -> None:
    """``verify.py [--recipe R] [--profile P] [--json]``: exit 1 for malformed results, 0 whatever the verdicts."""
    parser = argparse.ArgumentParser(description="Print the verdict of every claim.")
    parser.add_argument("--recipe", help="only this recipe")
    parser.add_argument("--profile", help="only this profile")
    parser.add_argument("--data", help="only this corpus")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--results", type=Path, default=RESULTS_DIR, help="where results lie (default: results/)")
    arguments = parser.parse_args()
    with one_line_errors():
        if arguments.recipe:
            load_recipe(arguments.recipe)  # says which there are, if it is none
    try:
        found = read_verdicts(arguments.results)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_MALFORMED)
    wanted = {"profile": arguments.profile, "data": arguments.data, "recipe": arguments.recipe}
    shown = [one for one in [*found, *not_run(arguments.results, found)] if one.has(**wanted)]
    if arguments.json:
        print(json.dumps([{"profile": one.profile, "data": one.data, **one.content} for one in shown], indent=2))
    else:
        print(as_terminal_table(shown, shutil.get_terminal_size((160, 24)).columns))
    problems = [problem for one in shown if one.was_run for problem in one.problems]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(EXIT_MALFORMED if problems else 0)
