"""A page's own contents lead to its parts."""

import pytest
from helpers import ROOT

from lnexp.results.pages.chapters import CHAPTERS
from lnexp.results.pages.headings import anchor, headings


@pytest.mark.parametrize(
    ("heading", "called"),
    [
        ("The question: who needs warm-up?", "the-question-who-needs-warm-up"),
        ("BERT's pre-training", "berts-pre-training"),
        ("Fig. 4(a,b)", "fig-4ab"),
        ("RAdam's β2, T_warmup × lr_max", "radams-β2-t_warmup--lr_max"),
        ("The gradients of W¹ and W²", "the-gradients-of-w-and-w"),
    ],
)
def test_an_anchor_is_githubs(heading, called):
    assert anchor(heading) == called


def test_the_page_of_results_begins_with_all_its_parts():
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    contents = text.partition("\n## ")[0]
    assert len(headings(text)) > 4
    assert [f"- [{title}](#{anchor(title)})" for title in headings(text)] == contents.strip().splitlines()[2:]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.name)
def test_the_page_of_a_chapter_begins_with_its_parts(chapter):
    text = (ROOT / chapter.page).read_text(encoding="utf-8")
    contents, *sections = text.split("\n## ")
    results = [section.partition("\n")[0] for section in sections if "Table and figure: [" in section]
    listed = [line for line in contents.splitlines() if line.startswith("- ")]
    assert len(results) > 1
    assert set(results) <= set(headings(text))
    assert listed == [f"- [{title}](#{anchor(title)})" for title in headings(text)]


def test_the_first_sweep_of_its_page_is_the_map():
    """README's link to what to take where the rate cannot be tuned leads to the first heading of this name."""
    text = (ROOT / "docs/results/beyond.md").read_text(encoding="utf-8")
    before = text.partition("\n### If the rate cannot be tuned\n")[0]
    assert before.rpartition("\n## ")[2].startswith("The map: eleven placements")
