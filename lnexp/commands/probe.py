"""Run ``scripts/probe.py``: measure recipes of the theory, or probe one model."""

import argparse

from lnexp.cli import Parser, add_results_options, one_line_errors
from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.paths import LOCAL_RESULTS_DIR
from lnexp.probing.model_probe import asks_for_model, probe_model
from lnexp.probing.recipes import probe_recipes
from lnexp.recipes.command_line import split_recipes
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.torch_variables import check_variables


def main() -> None:
    """Measure recipes of the theory or probe one model and print a table.

    The default is every recipe of models before training.

    ``probe.py [+recipe=fig3,…] [data=… n_seeds=…]`` or ``probe.py model=NAME …`` or ``probe.py checkpoint=PATH``.
    """
    arguments = command_line().parse_intermixed_args()
    with one_line_errors():
        check_variables()
        # not parsed by Hydra, which gives "=" and "," in a path a meaning of its own
        plain = [option for option in arguments.overrides if key_of(option) in ("checkpoint", "parameters")]
        recipes, rest = split_recipes([option for option in arguments.overrides if option not in plain])
        options = [*rest, *plain]
        if asks_for_model(options) and not recipes:
            if arguments.results:
                raise UserError("--results, --publish: only with recipes; the probe of one model is printed")
            report = probe_model(options)
            print(report.as_json() if arguments.json else report.as_text())
            return
        if arguments.json:
            raise UserError("--json: only with model=… or checkpoint=…; recipes write measurements.csv")
        every = [load_recipe(name) for name in recipe_names()]
        probe_recipes(
            recipes or [recipe for recipe in every if recipe.measurement and not recipe.is_of_trained_runs],
            options,
            arguments.results or LOCAL_RESULTS_DIR,
            arguments.leave_out_others,
        )


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(
        description="Measure what the paper's analysis is about, and judge its claims; or probe one model: hidden"
        " states and gradients by layer.",
        epilog="examples: python scripts/probe.py +recipe=fig3 data=iwslt14; python scripts/probe.py model=pre_ln;"
        " python scripts/probe.py checkpoint=runs/fig2a/…/checkpoint8.pt",
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        help="+recipe=NAME (default: all recipes of the theory), data=…, n_seeds=… …; or model=NAME with options of"
        " configs/train.yaml, or checkpoint=PATH, and parameters=[NAME,…] for other gradients than the FFN's",
    )
    add_results_options(parser)
    parser.add_argument(
        "--leave-out-others", action="store_true", help="of recipes: take options on corpus, seeds and runs alone"
    )
    parser.add_argument("--json", action="store_true", help="of one model: print rows as JSON, not tables")
    return parser
