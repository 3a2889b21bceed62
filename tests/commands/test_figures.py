"""``scripts/figures.py``."""

from shutil import copytree

import pytest
from helpers import error_of, run_script

from lnexp.paths import RESULTS_DIR

pytestmark = pytest.mark.slow

FIG2A = RESULTS_DIR / "small" / "toy" / "fig2a"


def test_a_folder_is_drawn_again_from_its_tables(tmp_path):
    folder = copytree(FIG2A, tmp_path / "fig2a")
    for path in folder.glob("figure.*"):
        path.unlink()
    done = run_script("figures", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{folder}: figure\n"
    for ending in ("png", "svg", "pdf"):
        assert (folder / f"figure.{ending}").stat().st_size > 5_000


def test_what_is_no_folder_of_results_is_refused(tmp_path):
    done = run_script("figures", str(tmp_path))
    assert error_of(done) == f"error: {tmp_path}: no folder of results; it has no verdicts.json"
