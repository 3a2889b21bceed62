"""Run ``scripts/figures.py``: draw the figures of results again."""

from pathlib import Path

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import recipe_of_results
from lnexp.result_tables import result_folders


def main() -> None:
    """``figures.py [FOLDER …]``: draw folders of results again, all of them unless some are named."""
    parser = Parser(description="Draw the figures of results again: PNG, SVG and PDF.")
    parser.add_argument("folders", nargs="*", type=Path, help="like results/small/toy/fig2a (default: all)")
    arguments = parser.parse_args()
    with one_line_errors():
        from lnexp.figures.folder import draw_all  # here, so that --help takes no second

        for folder in arguments.folders or result_folders(RESULTS_DIR):
            if not (folder / "verdicts.json").is_file():
                raise UserError(f"{folder}: no folder of results; it has no verdicts.json")
            names = draw_all(recipe_of_results(folder, folder.resolve().name), folder)
            print(f"{folder}: {', '.join(names) or 'nothing to draw'}")
