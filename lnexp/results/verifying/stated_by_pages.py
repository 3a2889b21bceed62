"""Hold the pages of published results against the files that they are made of."""

import os
from collections.abc import Sequence
from pathlib import Path

from lnexp.files import read_regular
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import Evidence
from lnexp.results.evidence.mixed_code import stated_mixed_code
from lnexp.results.judging.verdict_file import Verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.pages.table_page import table_page
from lnexp.results.pages.verdict_pages import as_page


def page_again(folder: Path, recipe: Recipe, evidence: Sequence[Evidence], verdicts: Verdicts) -> str:
    """Return what the ``table.md`` of a folder has to say. Of the page itself the lines on mixed code are kept."""
    return table_page(folder, recipe, evidence, verdicts, stated_mixed_code(read_regular(folder / "table.md")))


def denied_by_page(folder: Path, recipe: Recipe, evidence: Sequence[Evidence], verdicts: Verdicts) -> str | None:
    """Return, in one line, that the ``table.md`` of a folder says something else; None where it does not, or is not
    there.
    """
    path = folder / "table.md"
    if not os.path.lexists(path) or read_regular(path) == page_again(folder, recipe, evidence, verdicts):
        return None
    return f"{path}: says something else than the files beside it; python scripts/judge.py"


def denied_by_all_verdicts(results_dir: Path, found: list[RecipeVerdicts]) -> str | None:
    """Return, in one line, that ``verdicts.md`` says something else than all verdicts; None as :func:`denied_by_page`.

    Args:
        results_dir: the root of all results.
        found: all verdicts there.
    """
    path = results_dir / "verdicts.md"
    if not os.path.lexists(path) or read_regular(path) == as_page(found):
        return None
    return f"{path}: says something else than the verdicts of its folders; python scripts/judge.py"
