"""Run ``scripts/collect.py``: make tables, figures and verdicts from run folders."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from lnexp.cli import Parser, add_results_options, one_line_errors
from lnexp.errors import UserError
from lnexp.paths import LOCAL_RESULTS_DIR, RESULTS_DIR

if TYPE_CHECKING:
    from lnexp.recipes.recipe import Recipe


def main() -> None:
    """``collect.py +recipe=fig2a[,…] [the overrides that the runs were launched with]``."""
    parser = Parser(
        description="Make tables, figures and verdicts of recipes from their run folders.",
        epilog="--measures lists what claims can ask; scripts/train.py --help lists recipes and options.",
    )
    parser.add_argument("--measures", action=ListMeasures, nargs=0, help="list the measures of claims, and exit")
    parser.add_argument("overrides", nargs="+", help="+recipe=NAME and the overrides of the sweep: profile=… data=… …")
    add_results_options(parser)
    parser.add_argument(
        "--with-published", action="store_true", help="take runs that are not over here from the published tables"
    )
    parser.add_argument("--no-comparison", action="store_true", help="do not say how they compare with published ones")
    arguments = parser.parse_args()
    with one_line_errors():
        # here, so that --help takes no second
        from lnexp.recipes.command_line import check_overrides, split_recipes, with_corpus
        from lnexp.results.collect import collect
        from lnexp.results.compare import print_comparisons
        from lnexp.results.publish import warn_of_changes
        from lnexp.results.published_runs import with_published
        from lnexp.results.verdict_pages import write_page
        from lnexp.results.write import write_results
        from lnexp.terminal import filled

        recipes, rest = split_recipes(arguments.overrides)
        if not recipes:
            raise UserError("which recipe? say +recipe=NAME")
        check_overrides(recipes, rest)
        results, folders = arguments.results or LOCAL_RESULTS_DIR, []
        for recipe in recipes:
            runs = collect(recipe, rest)
            if arguments.with_published:
                runs = with_published(runs, RESULTS_DIR)
            # the corpus of a recipe of one's own stands in its file
            said = rest if recipe.file else with_corpus(recipe, runs[0].cfg.profile, rest)
            folder = write_results(recipe, runs, _command(recipe, said), results)
            folders.append(folder)
            over = sum(run.counts for run in runs)
            print(filled(f"{recipe.name}: {over} of {len(runs)} runs are over: {folder / 'table.md'}"))
        write_page(results)
        if results == RESULTS_DIR:
            warn_of_changes(folders)
        if not arguments.no_comparison:
            print_comparisons(folders)


class ListMeasures(argparse.Action):
    """Print every measure that claims can ask, and exit."""

    def __call__(self, *_: object) -> None:
        from lnexp.results.claims import measures_in_words

        for (name, text), of in measures_in_words().items():
            print(f"{name} ({'; '.join(of)}): {text}")
        sys.exit()


def _command(recipe: "Recipe", overrides: list[str]) -> str:
    """Return what a reader would type for the same results."""
    from lnexp.recipes.command_line import for_readers

    name = recipe.file.name if recipe.file else recipe.name
    words = shlex.join([f"+recipe={name}", *for_readers(overrides)])
    return f"python scripts/reproduce.py {words}"
