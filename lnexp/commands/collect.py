"""Run ``scripts/collect.py``: make tables, figures and verdicts from run folders."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lnexp.cli import Parser, add_numerics_option, add_results_options, add_runs_option, one_line_errors
from lnexp.errors import UserError
from lnexp.numerics import NUMERICS
from lnexp.paths import LOCAL_RESULTS_DIR, RESULTS_DIR, RUNS_DIR, is_published

if TYPE_CHECKING:
    from lnexp.recipes.recipe import Recipe


def main() -> None:
    """``collect.py +recipe=fig2a[,…] [the overrides that the runs were launched with]``, or ``collect.py FOLDER …``."""
    parser = Parser(
        description="Make tables, figures and verdicts of recipes from their run folders, or a table and curves of any"
        " runs: seeds are averaged, and what differs names the rows.",
        epilog="--measures lists what claims can ask; scripts/train.py --help lists recipes and options.",
    )
    parser.add_argument("--measures", action=ListMeasures, nargs=0, help="list the measures of claims, and exit")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="WHAT",
        help="+recipe=NAME and the overrides of the sweep: profile=… data=… …; or folders and patterns of runs",
    )
    parser.add_argument(
        "--sweep", metavar="TITLE", help="the runs of the sweep with this in its title; last: of the newest"
    )
    add_runs_option(parser)
    add_results_options(parser)
    parser.add_argument(
        "--with-published", action="store_true", help="take runs that are not over here from the published tables"
    )
    add_numerics_option(parser)
    parser.add_argument("--no-comparison", action="store_true", help="do not say how they compare with published ones")
    arguments = parser.parse_intermixed_args()
    with one_line_errors():
        if arguments.sweep or (arguments.overrides and not any("=" in word for word in arguments.overrides)):
            _collect_set(arguments)
        else:
            _collect_recipes(arguments)


def _collect_recipes(arguments: argparse.Namespace) -> None:
    """Write tables, figures and verdicts of recipes, and say how they compare with published ones.

    Where these are what is to be written, the new ones are moved there afterwards.
    """
    # here, so that --help takes no second
    from lnexp.recipes.command_line import check_overrides, split_recipes
    from lnexp.results.judging.questions import check_claims
    from lnexp.results.pages.compare import print_comparisons
    from lnexp.results.pages.verdict_pages import write_page
    from lnexp.results.writing.publish import print_published, publish_folders, refuse_some_arms

    recipes, rest = split_recipes(arguments.overrides)
    if not recipes:
        raise UserError("which runs? say +recipe=NAME, a folder of runs, or --sweep=last")
    if arguments.runs != RUNS_DIR:
        raise UserError(f"--runs: of folders and sweeps alone; of a recipe's runs say runs_dir={arguments.runs}")
    check_overrides(recipes, rest)
    for recipe in recipes:
        check_claims(recipe)
    results = arguments.results or LOCAL_RESULTS_DIR
    if publishing := is_published(results):
        refuse_some_arms(rest)
        results = LOCAL_RESULTS_DIR
    folders = [
        _collect_recipe(recipe, rest, results, arguments.numerics, arguments.with_published) for recipe in recipes
    ]
    write_page(results)
    if not arguments.no_comparison:
        print_comparisons(folders)
    if publishing:
        print_published(publish_folders(folders))


def _collect_recipe(recipe: "Recipe", overrides: list[str], results: Path, numerics: int, published_too: bool) -> Path:
    """Write the results of one recipe, print what came out, and return their folder."""
    from lnexp.recipes.command_line import with_corpus
    from lnexp.results.evidence.collect import collect
    from lnexp.results.evidence.mixed_code import mixed_code
    from lnexp.results.evidence.other_versions import other_versions
    from lnexp.results.judging.tally import judged_in_words
    from lnexp.results.judging.verdict_file import read_verdicts
    from lnexp.results.writing.published_runs import with_published
    from lnexp.results.writing.write import write_results
    from lnexp.runs.folder import misnamed_folders
    from lnexp.terminal import filled

    runs = collect(recipe, overrides, numerics)
    if published_too:
        runs = with_published(runs, RESULTS_DIR)
    # the corpus of a recipe of one's own stands in its file
    said = overrides if recipe.file else with_corpus(recipe, runs[0].cfg.profile, overrides)
    folder = write_results(recipe, runs, _command(recipe, said), results)
    over = sum(run.counts for run in runs)
    print(filled(f"{recipe.name}: {over} of {len(runs)} runs are over: {folder / 'table.md'}"))
    for line in other_versions(recipe, overrides, runs, numerics):
        print(filled(f"{recipe.name}: {line}"))
    for line in mixed_code(runs):
        print(filled(f"warning: {recipe.name}: {line}; other_code=retrain trains them by one"))
    if judged := judged_in_words(read_verdicts(folder / "verdicts.json").claims):
        print(filled(f"{recipe.name}: {judged}"))
    for line in misnamed_folders(runs[0].cfg.runs_dir):
        print(line, file=sys.stderr)
    return folder


def _collect_set(arguments: argparse.Namespace) -> None:
    """Write and print the table of any runs."""
    if arguments.numerics != NUMERICS:
        raise UserError(
            f"--numerics={arguments.numerics}: of a recipe's runs alone; others are taken whatever theirs are"
        )
    from lnexp.results.evidence.mixed_code import mixed_code
    from lnexp.results.writing.run_set import results_of
    from lnexp.results.writing.write_set import name_of_folder, write_set
    from lnexp.runs.places import folders_of, folders_of_sweep
    from lnexp.terminal import filled

    if arguments.sweep and arguments.overrides:
        raise UserError(f"{arguments.overrides[0]}: --sweep names the runs; say one of them")
    if arguments.with_published:
        raise UserError("--with-published: of a recipe's runs alone; say +recipe=NAME")
    if arguments.results and is_published(arguments.results):
        raise UserError("--publish: of a recipe's results alone; say +recipe=NAME")
    where = arguments.runs
    if arguments.sweep:
        title, paths = folders_of_sweep(arguments.sweep, where)
    else:
        title, paths = " ".join(arguments.overrides), folders_of(arguments.overrides, where)
    runs, left_out = results_of(paths, title)
    folder = (arguments.results or LOCAL_RESULTS_DIR) / "sets" / name_of_folder(title)
    print(write_set(runs, left_out, folder))
    print(f"{sum(run.counts for run in runs)} of {len(runs)} runs are over: {folder / 'table.md'}")
    for line in mixed_code(runs):
        print(filled(f"warning: {line}"))
    for problem in left_out:
        print(f"left out: {problem}", file=sys.stderr)


class ListMeasures(argparse.Action):
    """Print every measure that claims can ask, and exit."""

    def __call__(self, *_: object) -> None:
        from lnexp.results.judging.questions import measures_in_words

        for (name, text), of in measures_in_words().items():
            print(f"{name} ({'; '.join(of)}): {text}")
        sys.exit()


def _command(recipe: "Recipe", overrides: list[str]) -> str:
    """Return what a reader would type for the same results, by code of the same numerics."""
    from lnexp.recipes.command_line import for_readers

    *starts, _ = recipe.with_its_starts
    names = ",".join([*starts, recipe.shown_reference])
    words = shlex.join([f"+recipe={names}", *for_readers(overrides)])
    return f"python scripts/reproduce.py {words}"
