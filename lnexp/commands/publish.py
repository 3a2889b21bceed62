"""Run ``scripts/publish.py``: move results of this machine into the published ones."""

from lnexp.cli import Parser, one_line_errors


def main() -> None:
    """``publish.py --recipe R [--profile P] [--data D]``: from ``results/local/`` to ``results/``."""
    parser = Parser(description="Move local results of a recipe into the published ones.")
    parser.add_argument("--recipe", required=True, help="whose results")
    parser.add_argument("--profile", help="only this profile")
    parser.add_argument("--data", help="only this corpus")
    arguments = parser.parse_args()
    with one_line_errors():
        from lnexp.recipes.load import load_recipe  # here, so that --help takes no second
        from lnexp.results.writing.publish import print_published, publish

        recipe = load_recipe(arguments.recipe).name  # refuses an unknown name
        print_published(publish(recipe, arguments.profile, arguments.data))
