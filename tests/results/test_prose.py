"""Pages say what the published tables say."""

import csv
import shutil
import statistics

import pytest

from lnexp.errors import UserError
from lnexp.paths import ROOT
from lnexp.results import prose
from lnexp.results.prose import BEGIN, END, PAGES, PublishedFolder, page_of

RESULTS = ROOT / "results"
PLACE = "small/iwslt14-subset/fig4ab"


@pytest.fixture
def folder() -> PublishedFolder:
    return PublishedFolder(RESULTS / PLACE)


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_those_of_the_published_results(page):
    assert (ROOT / page).read_text(encoding="utf-8") == page_of(page, RESULTS), "make pages"


def test_numbers_are_those_of_the_tables(folder):
    with (RESULTS / PLACE / "runs.csv").open() as file:
        best = [float(row["best_valid_bleu"]) for row in csv.DictReader(file) if row["arm"] == "pre_ln_adam"]
    assert folder.mean("best_bleu", "pre_ln_adam") == f"{statistics.fmean(best):.1f}"
    assert folder.range("best_bleu", "pre_ln_adam").startswith(f"{statistics.fmean(best):.1f} [")
    assert folder.trained("pre_ln_adam") == f"{len(best)} of {len(best)}"
    assert folder.trained("post_ln_adam") == f"0 of {len(best)}"
    assert folder.seeds == "11 to 13"
    assert "post_ln_radam" in folder.arms


def test_verdicts_are_those_of_the_claims(folder):
    assert folder.verdict("fig4ab-radam-trains-post-ln") == "**contradicted**"
    assert {claim.id: claim.verdict for claim in folder.claims}["fig4ab-pre-ln-bleu"] == "not run"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda folder: folder.mean("best_bleu", "pre_ln_adma"), "has no best_bleu of pre_ln_adma"),
        (lambda folder: folder.verdict("fig4ab-x"), "has no claim fig4ab-x"),
    ],
)
def test_what_is_not_there_cannot_be_said(folder, ask, message):
    with pytest.raises(UserError, match=message):
        ask(folder)


def test_only_what_is_between_the_lines_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "PAGES", {"page.md": "page.md.jinja"})
    shutil.copytree(RESULTS / PLACE, tmp_path / "results" / PLACE)
    (tmp_path / "page.md.jinja").write_text(f'{{{{ results("{PLACE}").mean("best_bleu", "post_ln_adam") }}}}\n')
    (tmp_path / "page.md").write_text(f"before\n{BEGIN}old\n{END}after\n")
    prose.write_pages(tmp_path / "results")
    assert (tmp_path / "page.md").read_text() == f"before\n{BEGIN}0.0\n{END}after\n"
