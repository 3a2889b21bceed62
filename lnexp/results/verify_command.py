"""Run ``scripts/verify.py``: print the verdict of every claim."""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from lnexp.cli import one_line_errors
from lnexp.errors import UserError
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import load_recipe
from lnexp.results.verdict_pages import as_terminal_table
from lnexp.results.verdicts import all_verdicts, not_run

EXIT_MALFORMED = 1


def main() -> None:
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
            load_recipe(arguments.recipe)  # refuses an unknown name
    try:
        found = all_verdicts(arguments.results)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_MALFORMED)
    wanted = {"profile": arguments.profile, "data": arguments.data, "recipe": arguments.recipe}
    shown = [one for one in [*found, *not_run(arguments.results, found)] if one.has(**wanted)]
    if arguments.json:
        print(
            json.dumps([{"profile": one.profile, "data": one.data, **asdict(one.content)} for one in shown], indent=2)
        )
    else:
        print(as_terminal_table(shown, shutil.get_terminal_size((160, 24)).columns))
    problems = [problem for one in shown if one.was_run for problem in one.problems]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(EXIT_MALFORMED if problems else 0)
