"""Pages say what the published tables say."""

import csv
import shutil
import statistics

import pytest

from lnexp.errors import UserError
from lnexp.paths import ROOT
from lnexp.results import pages
from lnexp.results.pages import BEGIN, END, PAGES, page_of
from lnexp.results.published_folder import PublishedFolder

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
    verdicts = {claim.id: claim.verdict for claim in folder.claims}
    assert verdicts["fig4ab-radam-trains-post-ln"] == "contradicted"
    assert verdicts["fig4ab-pre-ln-bleu"] == "not run"


def test_what_is_not_there_cannot_be_said(folder):
    with pytest.raises(UserError, match="has no best_bleu of pre_ln_adma"):
        folder.mean("best_bleu", "pre_ln_adma")


def test_seeds_are_a_range_where_none_is_left_out(tmp_path):
    place = shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    for table in ("runs.csv", "epochs.csv"):
        lines = (place / table).read_text().splitlines(keepends=True)
        seed = lines[0].split(",").index("seed")
        (place / table).write_text("".join(line for line in lines if line.split(",")[seed] != "12"))
    assert PublishedFolder(place).seeds == "11, 13"


def test_only_what_is_between_the_lines_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "PAGES", {"page.md": "page.md.jinja"})
    shutil.copytree(RESULTS / PLACE, tmp_path / "results" / PLACE)
    (tmp_path / "page.md.jinja").write_text(f'{{{{ results("{PLACE}").mean("best_bleu", "post_ln_adam") }}}}\n')
    (tmp_path / "page.md").write_text(f"before\n{BEGIN}old\n{END}after\n")
    pages.write_pages(tmp_path / "results")
    assert (tmp_path / "page.md").read_text() == f"before\n{BEGIN}0.0\n{END}after\n"
