"""Run ``scripts/report.py``: make the page of results."""

from pathlib import Path

from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.paths import RESULTS_DIR, RUNS_DIR, is_published


def main() -> None:
    """``report.py [PLACE [PLACE]]``: one HTML page of results, or of two side by side."""
    parser = Parser(
        description="Make one self-contained HTML page of results; of two places, side by side.",
        epilog="example: python scripts/report.py results/small/toy/fig2a results/small/toy/fig2a_coupled",
    )
    parser.add_argument("places", nargs="*", type=Path, help="a root of results, or a folder of one (default: results)")
    add_runs_option(parser)
    parser.set_defaults(runs=None)
    parser.add_argument("--output", type=Path, default=Path("report.html"), help="the page (default: report.html)")
    arguments = parser.parse_intermixed_args()
    with one_line_errors():
        # here, so that --help takes no second
        from lnexp.report.page import render
        from lnexp.report.run_rows import gather
        from lnexp.report.sections import find_sections, is_of_one_figure
        from lnexp.runs.environment import git_state

        if arguments.output.is_dir():
            raise UserError(f"--output {arguments.output}: a folder; say the name of a file in it")
        places = arguments.places or [RESULTS_DIR]
        if len(places) > 2:
            raise UserError(f"{len(places)} places: one, or two to be compared")
        columns = [find_sections(place, number) for number, place in enumerate(places)]
        sections = [section for column in columns for section in column]
        # what else was trained here is no part of a page of the published results, or of single figures, alone
        here = None if all(is_published(place) or is_of_one_figure(place) for place in places) else RUNS_DIR
        runs = gather(sections, arguments.runs or here)
        page = render(columns, [str(place) for place in places], runs, (git_state()["commit"] or "")[:10])
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(arguments.output, page)
        shown = sum(section.was_run for section in sections)
        size = f"{len(page.encode()) / 1e6:.1f} MB"
        print(f"{arguments.output}: {shown} figure{'s' * (shown != 1)}, {len(runs.rows)} runs, {size}")
        if runs.problems:
            print(f"{len(runs.problems)} run folders cannot be read; the page lists them")
