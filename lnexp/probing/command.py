"""The command behind ``scripts/probe.py``."""

import argparse
from pathlib import Path

from lnexp.cli import one_line_errors
from lnexp.errors import UserError
from lnexp.probing.one_model import is_of_one_model, look
from lnexp.probing.options import group_of
from lnexp.probing.recipes import probe_recipes
from lnexp.recipes.command_line import split_recipes
from lnexp.recipes.load import load_recipe, recipe_names


def main() -> None:
    """``probe.py [+recipe=fig3,…] [data=… n_seeds=…]``: measure and judge, by default all recipes that probe.

    ``probe.py model=NAME …`` or ``checkpoint=PATH``: print what is seen in one model.
    """
    parser = argparse.ArgumentParser(
        description="Measure what the paper's analysis is about, and judge its claims; or look at one model.",
        epilog="examples: python scripts/probe.py +recipe=fig3 data=iwslt14; python scripts/probe.py model=pre_ln;"
        " python scripts/probe.py checkpoint=runs/fig2a/…/checkpoint8.pt",
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        help="+recipe=NAME (default: all that probe), data=…, n_seeds=… …; or model=NAME with options of"
        " configs/train.yaml, or checkpoint=PATH, and parameters=[NAME,…] for other gradients than the FFN's",
    )
    parser.add_argument("--results", type=Path, help="where results of recipes go (default: results/)")
    parser.add_argument("--json", action="store_true", help="of one model: print rows as JSON, not tables")
    arguments = parser.parse_args()
    with one_line_errors():
        # taken as they are: Hydra would read a path's "=" and "," as its own
        plain = [option for option in arguments.overrides if group_of(option) in ("checkpoint", "parameters")]
        recipes, rest = split_recipes([option for option in arguments.overrides if option not in plain])
        options = [*rest, *plain]
        if is_of_one_model(options) and not recipes:
            if arguments.results:
                raise UserError("--results: goes with recipes; what is seen in one model is printed")
            seen = look(options)
            print(seen.as_json() if arguments.json else seen.as_text())
            return
        if arguments.json:
            raise UserError("--json: goes with model=… or checkpoint=…; recipes write measurements.csv")
        every = [load_recipe(name) for name in recipe_names()]
        probe_recipes(
            recipes or [recipe for recipe in every if recipe.measurement], options, arguments.results or Path("results")
        )
