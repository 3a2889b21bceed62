"""Run ``scripts/judge.py``: judge published results again, from their tables."""

from pathlib import Path

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError
from lnexp.paths import RESULTS_DIR
from lnexp.result_tables import result_folders


def main() -> None:
    """``judge.py [--recipe R] [--results DIR]``."""
    parser = Parser(
        description="Judge published results again, from their tables: after a claim was changed. Needs no run folders."
    )
    parser.add_argument("--recipe", help="only this recipe, by its name or file")
    parser.add_argument("--results", type=Path, default=RESULTS_DIR, help="where results lie (default: results/)")
    arguments = parser.parse_args()
    with one_line_errors():
        # here, so that --help takes no second
        from lnexp.recipes.load import load_recipe
        from lnexp.results.judging.tally import tally
        from lnexp.results.pages.verdict_pages import write_page
        from lnexp.results.verifying.judge_again import judge_again

        recipe = load_recipe(arguments.recipe).name if arguments.recipe else None  # refuses an unknown name
        folders = [folder for folder in result_folders(arguments.results) if recipe in (None, folder.name)]
        if not folders:
            raise UserError(f"{arguments.results}: no results{f' of recipe {recipe}' if recipe else ' there'}")
        for folder in folders:
            print(f"{folder}: {tally(judge_again(folder).claims).text}")
        write_page(arguments.results)
