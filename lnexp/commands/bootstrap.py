"""Run ``scripts/bootstrap.py``: compare the test scores of two arms by a bootstrap over seeds and sentences."""

from typing import TYPE_CHECKING

from lnexp.checks import check_whole
from lnexp.cli import Parser, add_numerics_option, one_line_errors
from lnexp.terminal import filled

if TYPE_CHECKING:
    from lnexp.results.evidence.sentence_tests import SentenceTests
    from lnexp.results.statistics.bootstrap import PairedDifference

#: Of the draws, as in sacreBLEU: the same command prints the same numbers.
RANDOM_SEED = 12345
#: The ends of a 95% interval need some resamples beyond them.
LEAST_SAMPLES = 100


def main() -> None:
    """``bootstrap.py +recipe=NAME ARM_A ARM_B [the overrides that the runs were launched with] [--samples N]``."""
    parser = Parser(
        description="Compare the test scores of two arms by a bootstrap over seeds and sentences, from run folders."
    )
    parser.add_argument("recipe", help="whose runs: +recipe=NAME, +recipe=PATH/mine.yaml, or the name or path alone")
    parser.add_argument("arm_a", help="the name of an arm")
    parser.add_argument("arm_b", help="the name of the arm that it is compared with")
    parser.add_argument("overrides", nargs="*", help="the overrides of the sweep: profile=… data=… …")
    parser.add_argument("--samples", type=int, default=1000, help="number of resamples (default: 1000)")
    add_numerics_option(parser)
    arguments = parser.parse_intermixed_args()
    with one_line_errors():
        # here, so that --help takes no second
        import numpy as np

        from lnexp.recipes.command_line import check_overrides
        from lnexp.recipes.load import load_recipe
        from lnexp.results.evidence.sentence_tests import read_sentence_tests
        from lnexp.results.statistics.bootstrap import compare

        check_whole("--samples", arguments.samples, least=LEAST_SAMPLES)
        recipe = load_recipe(arguments.recipe.removeprefix("+").removeprefix("recipe="))
        check_overrides([recipe], arguments.overrides)
        arms = (arguments.arm_a, arguments.arm_b)
        tests = read_sentence_tests(recipe, arms, arguments.overrides, arguments.numerics)
        found = compare(tests.counts, tests.score, arguments.samples, np.random.default_rng(RANDOM_SEED))
        print("\n".join(_page(tests, found, arguments.samples)))


def _page(tests: "SentenceTests", found: "PairedDifference", samples: int) -> list[str]:
    """Return the lines to print."""
    first, second = (of_arm[0] for of_arm in tests.runs)
    score, seeds = first.task.score, tests.seeds

    def text(value: float) -> str:
        return f"{value:.{score.places + 1}f}"

    where = f"{first.job.recipe.name} at {first.cfg.profile} on {first.cfg.data.name}"
    of = f"{len(seeds)} seeds ({', '.join(map(str, seeds))}), {tests.counts.shape[2]:,} sentences"
    interval = f"95% interval [{text(found.low)}, {text(found.high)}], p = {found.p:.2g}"
    note = first.task.score_note([run.end for of_arm in tests.runs for run in of_arm])
    return [
        filled(f"{where}: test {score.title}, mean over {of}", indent=0),
        f"{text(found.scores[0]):>8}  {first.job.arm.name}",
        f"{text(found.scores[1]):>8}  {second.job.arm.name}",
        f"{text(found.difference):>8}  difference, {interval}",
        *([filled(note, indent=0)] if note else []),
        filled(_how_to_read(len(seeds), samples), indent=0),
    ]


def _how_to_read(seeds: int, samples: int) -> str:
    from lnexp.results.statistics.bootstrap import spread_shown

    return (
        f"Of {samples:,} resamples of seeds and sentences: an interval without 0 speaks for a difference beyond the"
        f" choice of both; with {seeds} seeds it is too narrow, for their resamples show {spread_shown(seeds):.2f} of"
        " the standard deviation between seeds, and it is not widened as Student's t interval is."
    )
