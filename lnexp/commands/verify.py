"""Run ``scripts/verify.py``: print the verdict of every claim."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError, near_names
from lnexp.paths import RESULTS_DIR, files_of_group, is_published
from lnexp.recipes.jobs import NO_CORPUS, THEORY
from lnexp.recipes.load import load_recipe
from lnexp.results.judging.questions import check_claims
from lnexp.results.judging.verdicts import RecipeVerdicts, not_run, readable_verdicts, sound_recipes

EXIT_MALFORMED = 1


def main() -> None:
    """``verify.py [--recipe R[,R]] [--all | --json]``: exit 1 for malformed results, 0 whatever the verdicts."""
    parser = Parser(description="Print the verdict of every claim.")
    parser.add_argument("--recipe", type=_names, help="only this recipe, or these: NAME,NAME, or files")
    parser.add_argument("--profile", type=_names, help="only this profile, or these")
    parser.add_argument("--data", type=_names, help="only this corpus, or these")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--all", action="store_true", help="every claim with its test, numbers and reasons")
    forms.add_argument("--json", action="store_true", help="the same as JSON")
    parser.add_argument("--results", type=Path, default=RESULTS_DIR, help="where results lie (default: results/)")
    parser.add_argument(
        "--identities", action="store_true", help="also compose every run's command again: half a minute for all"
    )
    arguments = parser.parse_args()
    with one_line_errors():
        recipes = [_name_of(reference) for reference in arguments.recipe or []] or None
        found, problems = readable_verdicts(arguments.results)
        if not (found or problems or recipes or is_published(arguments.results)):
            raise UserError(f"{arguments.results}: no results there; reproduce.py, collect.py or probe.py makes them")
        _refuse_unknown("profile", arguments.profile or [], [*files_of_group("profile"), THEORY])
        _refuse_unknown(
            "data", arguments.data or [], [*files_of_group("data"), NO_CORPUS, *{one.data for one in found}]
        )
        problems += _show(arguments, found, recipes)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(EXIT_MALFORMED if problems else 0)


def _name_of(reference: str) -> str:
    """Return a recipe's name. Raises UserError for an unknown one, and for one with claims that cannot be judged."""
    recipe = load_recipe(reference)
    if recipe.file:  # the project's are checked with all the others
        check_claims(recipe)
    return recipe.name


def _refuse_unknown(option: str, said: list[str], known: list[str]) -> None:
    """Refuse a profile or a corpus that there is not. Raises UserError."""
    for name in said:
        if name not in known:
            raise UserError(f"--{option}={name}: no such {option}; {near_names(name, sorted(set(known)))}")


def _show(arguments: argparse.Namespace, found: list[RecipeVerdicts], recipes: list[str] | None) -> list[str]:
    """Print the verdicts that were asked for, and return what is wrong with them and with recipes."""
    wanted = {"profile": arguments.profile, "data": arguments.data, "recipe": recipes}
    # the project's recipes are missing in its own results alone; among a user's, those that were asked for
    sound, unsound = sound_recipes(recipes or ())
    missing = not_run(arguments.results, found, sound) if recipes or is_published(arguments.results) else []
    shown = [one for one in [*found, *missing] if one.has(**wanted)]
    problems = [problem for one in shown if one.was_run for problem in _problems(one, arguments.identities)]
    problems += _denied_page(arguments.results, found) if [one for one in shown if one.was_run] == found else []
    problems += unsound
    try:
        _print(arguments, shown)
    except UserError as error:  # a table beside verdicts, which is among the problems, or should be
        problems.append(str(error))
    return list(dict.fromkeys(problems))


def _print(arguments: argparse.Namespace, shown: list[RecipeVerdicts]) -> None:
    # imported where they are needed, for they import pandas, and --help should not
    if arguments.json:
        print(
            json.dumps([{"profile": one.profile, "data": one.data, **asdict(one.content)} for one in shown], indent=2)
        )
    elif arguments.all:
        from lnexp.results.pages.compare import print_comparisons
        from lnexp.results.pages.verdict_pages import in_terminal

        print(in_terminal(shown))
        print_comparisons(one.path.parent for one in shown if one.was_run)
    else:
        from lnexp.results.pages.last_screen import last_screen

        print(last_screen(shown, arguments.results, RESULTS_DIR))


def _problems(one: RecipeVerdicts, identities: bool) -> list[str]:
    """Return where verdicts differ from their recipe or, where they do not, from the tables beside them.

    Args:
        one: of a folder of results.
        identities: whether the identities of its runs are computed again, too.
    """
    # here, for they import pandas, and --help should not
    from lnexp.results.verifying.judge_again import what_tables_deny
    from lnexp.results.verifying.stated_by_identity import denied_by_identity

    if one.problems:
        return list(one.problems)
    found = [what_tables_deny(one.content, one.path.parent), denied_by_identity(one) if identities else None]
    return [problem for problem in found if problem]


def _denied_page(results_dir: Path, found: list[RecipeVerdicts]) -> list[str]:
    """Return that the page of all verdicts says something else, where it does."""
    from lnexp.results.verifying.stated_by_pages import denied_by_all_verdicts  # here, for it imports pandas

    try:
        return list(filter(None, [denied_by_all_verdicts(results_dir, found)]))
    except (UserError, OSError, ValueError) as error:
        return [f"{results_dir / 'verdicts.md'}: cannot be compared ({type(error).__name__}: {error})"]


def _names(text: str) -> list[str]:
    return text.split(",")
