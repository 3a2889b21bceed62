"""A page of published results that says something else than the files beside it is named."""

from pathlib import Path

import pytest
from helpers import change_provenance, run_script

from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import all_verdicts
from lnexp.results.pages.markup import without_markup
from lnexp.results.pages.verdict_pages import write_page
from lnexp.results.verifying.judge_again import judge_again, what_tables_deny
from lnexp.results.verifying.stated_by_pages import denied_by_all_verdicts

pytestmark = pytest.mark.slow

PLACES = ["small/toy/fig2a", "small/toy/factorial", "small/toy/placements", "theory/toy/fig3"]


@pytest.fixture(params=PLACES)
def folder(request, copied) -> Path:
    return copied(request.param)


def _denied(folder: Path) -> str | None:
    return what_tables_deny(read_verdicts(folder / "verdicts.json"), folder)


def _change(path: Path, said: str, instead: str) -> None:
    text = path.read_text()
    assert said in text
    path.write_text(text.replace(said, instead, 1))


@pytest.mark.parametrize(
    ("said", "instead"),
    [("(n=", "(n=1"), (" reproduced ", " contradicted "), ("Source: ", "Source: us, "), ("Numerics: ", "Numerics: 7")],
)
def test_a_page_of_other_words_is_named(folder, said, instead):
    assert _denied(folder) is None
    page = folder / "table.md"
    was = page.read_text()
    _change(page, said, instead)
    assert _denied(folder) == f"{page}: says something else than the files beside it; python scripts/judge.py"
    judge_again(folder)
    assert page.read_text() == was


def test_a_page_that_is_not_there_says_nothing(folder):
    (folder / "table.md").unlink()
    assert _denied(folder) is None


def test_the_lines_on_mixed_code_are_kept_and_nothing_beside_them(folder):
    if folder.name == "fig3":
        pytest.skip("a probe has one program")
    page, line = folder / "table.md", "the runs of pre_ln were trained by different code (plugin/layers.py): seeds 1, 3"
    _change(page, "\n\n```\n", f" Mixed code: {line}.\n\n```\n")
    assert _denied(folder) is None
    _change(page, "(plugin/layers.py)", "(<b>plugin</b>)")
    assert "says something else" in _denied(folder)


@pytest.mark.parametrize("markup", ["<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- ", "</table>"])
def test_a_page_has_no_markup_of_others(fig2a, markup):
    """A machine has the name that its owner says."""
    change_provenance(fig2a, lambda content: content["environments"][0].update(cpu=markup))
    assert "says something else" in _denied(fig2a)
    judge_again(fig2a)
    page = (fig2a / "table.md").read_text()
    assert markup not in page
    assert markup.replace("<", "&lt;") in page
    assert "<br>" in page


def test_verify_names_a_page_of_all_verdicts_with_other_words(fig2a, tmp_path):
    write_page(tmp_path)
    assert denied_by_all_verdicts(tmp_path, all_verdicts(tmp_path)) is None
    assert run_script("verify", "--results", str(tmp_path)).returncode == 0
    _change(tmp_path / "verdicts.md", " reproduced ", " contradicted ")
    done = run_script("verify", "--results", str(tmp_path))
    assert done.returncode == 1
    assert f"error: {tmp_path / 'verdicts.md'}: says something else than the verdicts of its folders" in done.stderr
    _change(fig2a / "table.md", " reproduced ", " contradicted ")
    assert "fig2a/table.md: says something else" in run_script("verify", "--results", str(tmp_path)).stderr


def test_a_page_that_is_no_text_is_one_line(folder):
    (folder / "table.md").write_bytes(b"\xff")
    assert _denied(folder).startswith(str(folder))


@pytest.mark.parametrize(
    "page", ["a ![x](https://elsewhere/x.png)", "![a](b.png) ![x](//elsewhere/c.png)", "![x](http://e](a.png)"]
)
def test_an_image_from_elsewhere_is_words(page):
    assert without_markup(page).rpartition("[x]")[0].endswith("&#33;")


@pytest.mark.parametrize("page", ["![E[x] of layers](states.png)", "wonderful! [a link](runs.csv)"])
def test_a_figure_beside_the_page_is_shown(page):
    assert without_markup(page) == page
