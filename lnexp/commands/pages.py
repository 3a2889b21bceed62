"""Run ``scripts/pages.py``: write the pages whose numbers come from the published results."""

from lnexp.cli import Parser, one_line_errors
from lnexp.paths import ROOT


def main() -> None:
    """``pages.py``."""
    parser = Parser(description="Write what published results say into README.md and docs/ anew.")
    parser.parse_args()
    with one_line_errors():
        from lnexp.results.pages.pages import made_pages, write_pages  # here, so that --help takes no second

        write_pages(ROOT / "results")
        print(f"written: {', '.join(made_pages())}")
