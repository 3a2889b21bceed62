"""Write what published results say into pages: ``docs/results.md``, ``docs/results/``, parts of README.md and others.

A part lies between two lines of its page, and the first one names its template under ``docs/templates``::

    <!-- make pages: answer -->
    …
    <!-- end of answer -->

A template asks ``results("small/toy/fig2a")`` for a folder of results, and this for what it needs of it, see
:class:`lnexp.results.pages.published_folder.PublishedFolder`; what else there is to ask for is in
:mod:`lnexp.results.pages.template_variables`. So no number there is typed, and none stays behind when results change.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lnexp.errors import UserError
from lnexp.figures.answer import draw_answer
from lnexp.files import write_whole
from lnexp.paths import ROOT
from lnexp.results.pages.chapters import CHAPTERS
from lnexp.results.pages.shown_corpora import answer_points
from lnexp.results.pages.template_variables import variables

#: Pages of which everything is made, with their templates.
WHOLE = {
    "docs/results.md": "results",
    "docs/results/contradicted.md": "results/contradicted",
    **{chapter.page: chapter.template for chapter in CHAPTERS},
}
TEMPLATES = "docs/templates"
#: The figure of the answer.
ANSWER = "docs/answer.png"
BEGIN, END = "<!-- make pages: {} -->\n", "<!-- end of {} -->\n"
PART = re.compile(BEGIN.format(r"(\w+)") + ".*?" + END.format(r"(\w+)"), re.DOTALL)


def made_pages() -> list[str]:
    """Return the pages that have anything to make, by their places in the project."""
    own = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    partly = [page.relative_to(ROOT).as_posix() for page in own if PART.search(page.read_text(encoding="utf-8"))]
    return [*WHOLE, *(page for page in partly if page not in WHOLE)]


def page_of(page: str, results_dir: Path) -> str:
    """Return the content of a page with what is made of its templates.

    Args:
        page: its place in the project.
        results_dir: the root of all results.

    Raises:
        UserError: where a template asks for results, arms, measures or claims that are not there, or a part of the page
            does not end.
    """
    return page_with(page, variables(results_dir))


def page_with(page: str, values: dict[str, Any]) -> str:
    """Return the content of a page as :func:`page_of`, with variables that take seconds to make."""
    of_page = {chapter.page: chapter for chapter in values["chapters"].values()}
    render = _renderer(values | {"root": "../" * page.count("/"), "chapter": of_page.get(page)})
    if page in WHOLE:
        return render(WHOLE[page])

    def part(found: re.Match[str]) -> str:
        name, end = found.groups()
        if name != end:
            raise UserError(f"{page}: the part {name} ends as {end}")
        return f"{BEGIN.format(name)}{render(name)}{END.format(name)}"

    there = (ROOT / page).read_text(encoding="utf-8")
    made, parts = PART.subn(part, there)
    if parts != there.count(BEGIN.partition("{}")[0]):
        raise UserError(f"{page}: a part of it does not end")
    return made


def _renderer(values: dict[str, Any]) -> Callable[[str], str]:
    """Return what renders a template by its name; ``root`` leads from its page to the project, for links."""
    environment = Environment(
        loader=FileSystemLoader(ROOT / TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals |= values
    return lambda name: environment.get_template(f"{name}.md.jinja").render()


def write_pages(results_dir: Path) -> None:
    """Write all pages and the figure of the answer anew."""
    values = variables(results_dir)
    for page in made_pages():
        write_whole(ROOT / page, page_with(page, values))
    draw_answer(answer_points(results_dir), ROOT / ANSWER)
