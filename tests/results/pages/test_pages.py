"""Pages say what the published tables say."""

import csv
import json
import shutil
import statistics
from pathlib import Path

import pandas as pd
import pytest
from helpers import as_of_fewer_seeds
from matplotlib.image import imread

from lnexp.errors import UserError
from lnexp.figures.answer import draw_answer
from lnexp.paths import ROOT
from lnexp.results.pages import pages
from lnexp.results.pages.headline import ROWS
from lnexp.results.pages.pages import ANSWER, BEGIN, END, made_pages, page_of, page_with
from lnexp.results.pages.published_folder import PublishedFolder, readable_folder
from lnexp.results.pages.shown_corpora import answer_points
from lnexp.results.pages.template_variables import variables

pytestmark = pytest.mark.slow

RESULTS = ROOT / "results"
PLACE = "medium/multi30k/fig4ab"
PLACES = [path.parent.relative_to(RESULTS).as_posix() for path in RESULTS.glob("*/*/*/verdicts.json")]
#: The recipe that has all arms of the answer.
ANSWERED = "placement_decoupled"


@pytest.fixture
def folder() -> PublishedFolder:
    return PublishedFolder(RESULTS / PLACE)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one page, with the results of one recipe on one corpus."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "WHOLE", {})
    (tmp_path / pages.TEMPLATES).mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(RESULTS / PLACE, tmp_path / "results" / PLACE)
    return tmp_path


@pytest.fixture(scope="module")
def values():
    return variables(RESULTS)


@pytest.mark.parametrize("page", made_pages())
def test_the_pages_are_those_of_the_published_results(page, values):
    assert (ROOT / page).read_text(encoding="utf-8") == page_with(page, values), "make pages"


def test_no_page_is_left_of_results_that_have_another():
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/results").glob("*")} <= set(made_pages())


@pytest.mark.parametrize("place", PLACES)
def test_every_published_result_is_shown_on_one_page_with_a_figure(place):
    section, figures = section_of(place), [path.name for path in (RESULTS / place).glob("*.png")]
    assert any(f"](../../results/{place}/{name})" in section for name in figures) == bool(figures)


def test_results_that_no_chapter_lists_are_shown_too(tmp_path):
    results = shutil.copytree(RESULTS, tmp_path / "results")
    shutil.copytree(RESULTS / "small/toy/fig2a", results / "small/mine/fig2a")
    assert "](../../results/small/mine/fig2a/table.md)" in page_of("docs/results/controls.md", results)


def test_the_page_of_all_results_leads_to_each(values):
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert [place for place in PLACES if f"(../{values['section'](place)})" not in page] == []


def section_of(place: str) -> str:
    """Return what the page of a result's chapter says of it."""
    sections = [part for path in (ROOT / "docs/results").glob("*.md") for part in path.read_text().split("\n## ")]
    (section,) = (part for part in sections if f"Table and figure: [{Path(place).name}](../../results/{place}/" in part)
    return section


def test_every_figure_of_published_results_is_shown_on_its_page():
    figures = [path for path in RESULTS.glob("*/*/*/*.png") if (path.parent / "verdicts.json").is_file()]
    assert len(figures) > 40
    assert [path for path in figures if f"({path.name})" not in (path.parent / "table.md").read_text()] == []


def test_corpora_that_tallies_do_not_count_are_shown_where_no_other_is(tmp_path):
    as_of_fewer_seeds(RESULTS / PLACE, tmp_path / PLACE)
    assert list(answer_points(tmp_path)) == ["Multi30k"]
    shutil.copytree(RESULTS / "small/toy/fig4ab", tmp_path / "small/toy/fig4ab")
    assert list(answer_points(tmp_path)) == ["embedded corpus"]


def test_numbers_are_those_of_the_tables(folder):
    with (RESULTS / PLACE / "runs.csv").open() as file:
        best = [float(row["best_valid_bleu"]) for row in csv.DictReader(file) if row["arm"] == "pre_ln_adam"]
    assert folder.mean("best_bleu", "pre_ln_adam") == f"{statistics.fmean(best):.1f}"
    assert folder.range("best_bleu", "pre_ln_adam").startswith(f"{statistics.fmean(best):.1f} [")
    assert folder.trained("pre_ln_adam") == f"{len(best)} of {len(best)}"
    assert folder.trained("post_ln_adam") == f"0 of {len(best)}"
    assert folder.seeds == "seeds 21 to 26"
    assert "post_ln_radam" in folder.arms


def test_where_runs_disagree_their_range_is_shown():
    of = PublishedFolder(RESULTS / "small" / "toy" / "fig2a")
    runs = pd.read_csv(RESULTS / "small" / "toy" / "fig2a" / "runs.csv")
    best = runs[runs.arm == "no_warmup_low"].best_valid_bleu
    assert of.trained("no_warmup_low") == "1 of 10"
    assert of.range("best_bleu", "no_warmup_low") == f"{best.mean():.1f} ({best.min():.1f} to {best.max():.1f})"
    assert " [" in of.range("best_bleu", "warmup_low")


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
        (place / table).write_text("".join(line for line in lines if line.split(",")[seed] != "22"))
    assert PublishedFolder(place).seeds == "seeds 21, 23, 24, 25, 26"


def test_the_figure_of_the_answer_is_that_of_the_published_results(tmp_path):
    draw_answer(answer_points(RESULTS), tmp_path / "answer.png")
    assert (imread(tmp_path / "answer.png") == imread(ROOT / ANSWER)).all(), "make pages"


def test_arms_are_of_the_first_recipe_that_has_them(tmp_path):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    points = answer_points(tmp_path)["Multi30k"]
    assert points["Post-LN, warm-up"] == PublishedFolder(RESULTS / PLACE).values("best_bleu", "post_ln_adam_warmup")
    assert points["Pre-LN, warm-up"] == [], "fig4ab has no such arm"


def test_the_figure_shows_every_run():
    points = answer_points(RESULTS)
    with (RESULTS / "small" / "toy" / ANSWERED / "runs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["arm"] == "post_ln_none"]
    assert sorted(points["embedded corpus"]["Post-LN, no warm-up"]) == sorted(
        float(row["best_valid_bleu"]) for row in rows
    )
    assert list(points["embedded corpus"]) == list(ROWS)


def test_only_parts_are_written(project):
    (project / pages.TEMPLATES / "mean.md.jinja").write_text(
        f'{{{{ root }}}}{{{{ results("{PLACE}").mean("best_bleu", "post_ln_adam") }}}}\n'
    )
    begin, end = BEGIN.format("mean"), END.format("mean")
    (project / "README.md").write_text(f"before\n{begin}old\n{end}between\n{begin}{end}after\n")
    pages.write_pages(project / "results")
    made = f"{begin}0.0\n{end}"
    assert (project / "README.md").read_text() == f"before\n{made}between\n{made}after\n"
    assert (project / ANSWER).exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{BEGIN.format('one')}{END.format('other')}", "README.md: the part one ends as other"),
        (f"{BEGIN.format('one')}text\n", "README.md: a part of it does not end"),
    ],
)
def test_parts_that_do_not_end_are_refused(project, text, message):
    (project / "README.md").write_text(text)
    with pytest.raises(UserError, match=message):
        page_of("README.md", project / "results")


@pytest.fixture(scope="module")
def with_multi30k(tmp_path_factory):
    """The published results, and some that stand for those on Multi30k; nobody changes them."""
    results = shutil.copytree(RESULTS, tmp_path_factory.mktemp("multi30k") / "results")
    shutil.rmtree(results / "medium", ignore_errors=True)
    for recipe in (ANSWERED, "fig2a", "fig4ab", "warmup_sensitivity", "small_fixed_lr"):
        shutil.copytree(RESULTS / "small" / "toy" / recipe, results / "medium" / "multi30k" / recipe)
    return results


@pytest.fixture(scope="module")
def of_multi30k(with_multi30k):
    return variables(with_multi30k)


def test_a_corpus_is_shown_when_it_has_results(with_multi30k, of_multi30k):
    """Stronger evidence comes first: in the answer, its table and the claims, without an edit."""
    readme = page_with("README.md", of_multi30k)
    assert "\n**On Multi30k with Adam" in readme
    assert "Pre-LN trains without it**: without warm-up" in readme
    assert "| claim | Multi30k | embedded corpus |" in readme
    marks = [f"[✓](results/{place}/fig2a/table.md#verdicts)" for place in ("medium/multi30k", "small/toy")]
    assert f"| Without warm-up Post-LN fails | {' | '.join(marks)} |" in readme
    assert readme.index(f"results/medium/multi30k/{ANSWERED}") < readme.index(f"results/small/toy/{ANSWERED}")
    assert list(answer_points(with_multi30k)) == ["Multi30k", "embedded corpus"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("removed", "page"),
    [
        ("small/toy/map", "docs/results/why.md"),
        ("medium/multi30k/tuned_rate", "docs/results/why.md"),
        ("small/toy/fig2a", "docs/results/multi30k.md"),
    ],
)
def test_a_page_can_do_without_results_that_it_speaks_of(tmp_path, removed, page):
    results = shutil.copytree(RESULTS, tmp_path / "results", ignore=shutil.ignore_patterns("*.p??", "*.svg"))
    shutil.rmtree(results / removed)
    assert f"({removed}" not in page_of(page, results)


@pytest.mark.slow
def test_a_corpus_has_its_part_of_all_results(of_multi30k):
    page = page_with("docs/results.md", of_multi30k)
    assert page.index("docs/results/multi30k.md)") < page.index("docs/results/embedded-corpus.md)")
    real_text = page_with("docs/results/multi30k.md", of_multi30k)
    (ours,) = (line for line in real_text.splitlines() if "Table and figure: [fig2a]" in line)
    assert "(../../results/medium/multi30k/fig2a/table.md)" in ours


def test_the_answer_follows_the_verdicts_of_the_first_corpus(with_multi30k, tmp_path):
    results = shutil.copytree(with_multi30k, tmp_path / "results")
    path = results / "medium" / "multi30k" / "fig4ab" / "verdicts.json"
    content = json.loads(path.read_text())
    for claim in content["claims"]:
        if claim["id"] == "fig4ab-placement-decides":
            claim["verdict"], claim["margins"] = "inconclusive", [{"mean": 0.1, "low": -1.0, "high": 1.0, "n": 10}]
    path.write_text(json.dumps(content))
    readme = page_of("README.md", results)
    assert "**On Multi30k it is not decided**: without warm-up" in readme


def test_marks_say_whether_a_claim_counts(folder, tmp_path):
    assert folder.mark("fig4ab-radam-trains-post-ln") == "✗"
    as_of_fewer_seeds(RESULTS / PLACE, tmp_path / PLACE)
    assert PublishedFolder(tmp_path / PLACE).mark("fig4ab-radam-trains-post-ln") == "(✗)"
    assert folder.mark("fig4ab-pre-ln-bleu") == "–"
    assert PublishedFolder(RESULTS / "small" / "toy" / "fig4ab").mark("fig4ab-pre-ln-trains") == "(✓)"
    with pytest.raises(UserError, match="has no claim fig4ab-none"):
        folder.mark("fig4ab-none")


def test_below_the_claims_stands_why_some_are_not_counted(values, tmp_path):
    reasons = "In parentheses: not counted (exploratory or registered after the runs).\n"
    assert reasons in page_with("README.md", values)
    results = shutil.copytree(RESULTS, tmp_path / "results")
    shutil.rmtree(results / "small/toy/fig2a")
    as_of_fewer_seeds(RESULTS / "small/toy/fig2a", results / "small/toy/fig2a")
    reasons = "not counted (exploratory or fewer seeds than planned or registered after the runs).\n"
    assert reasons in page_of("README.md", results)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            PLACE,
            "of 6 decided verdicts, 6 survive it over the claims of this recipe, and 3 over [all claims on",
        ),
        (PLACE, "; 1 of them is decided by the numbers of another recipe's claim, and counts there.\n"),
        (
            "medium/multi30k/fig2a_coupled",
            "; 3 of them are decided by the numbers of another recipe's claims, and count",
        ),
        (
            "theory/toy/fig3",
            "of 5 decided verdicts, 2 survive it over the claims of this recipe, and 2 over [all",
        ),
    ],
)
def test_below_the_claims_stands_how_many_survive_the_correction(place, said):
    """Counted by hand from the p-values of verdicts.json."""
    assert said in section_of(place)


def test_arms_of_a_recipe_can_differ_in_their_number_of_updates():
    folder = PublishedFolder(ROOT / "results/paper/iwslt14-subset/paper_size_placement")
    assert [folder.updates_of(arm) for arm in folder.arms] == ["2,840", "4,260", "4,260"]


def test_arms_are_compared_with_the_baselines_of_their_recipe():
    of = PublishedFolder(RESULTS / "small/toy/interventions")
    runs = pd.read_csv(RESULTS / "small/toy/interventions/runs.csv").pivot(
        index="seed", columns="arm", values="last_valid_nll"
    )
    ratio = statistics.geometric_mean(runs["warmup"] / runs["none"])
    assert of.against("none", "warmup").startswith(f"{ratio:.2f} ("), "some runs without warm-up train, others do not"
    ratio = statistics.geometric_mean(runs["warmup"] / runs["pre_ln"])
    assert of.against("pre_ln", "warmup").startswith(f"{ratio:.2f} ["), "all runs of both train"
    assert "| over that of w/o warm-up | over that of Pre-LN w/o warm-up |\n" in section_of("small/toy/interventions")


def test_the_line_of_success_tells_runs_that_train(folder):
    best = pd.read_csv(RESULTS / PLACE / "runs.csv").groupby("arm")["best_valid_bleu"].mean().max()
    assert folder.line == f"{best / 2:.1f}"


def test_the_scale_is_that_of_the_runs(folder):
    assert folder.scale == "29,000 training pairs, 6-6 layers of width 96, 4,160 updates"


@pytest.mark.parametrize(("diverged", "shown"), [([21], "; 1 diverged"), (range(21, 27), "–; 6 diverged")])
def test_runs_that_diverged_are_counted_beside_a_measure_that_they_have_not(tmp_path, diverged, shown):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    runs.loc[(runs["arm"] == "pre_ln_adam") & runs["seed"].isin(diverged), "status"] = "diverged"
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    folder = PublishedFolder(tmp_path / PLACE)
    assert folder.range("last_nll", "pre_ln_adam", 2).endswith(shown)
    assert "diverged" not in folder.range("last_bleu", "pre_ln_adam")
    assert "diverged" not in folder.range("last_nll", "post_ln_adam", 2)


@pytest.mark.parametrize(
    ("left", "said"), [(range(21, 27), ""), (range(21, 23), "2 of 6"), ([21], "1 of 6"), ((), "1 to 6 of 6")]
)
def test_results_of_fewer_seeds_than_planned_are_unfinished(tmp_path, left, said):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    gone = ~runs["seed"].isin(left) if left else (runs["arm"] == "pre_ln_adam") & (runs["seed"] > 21)
    runs.loc[gone, "status"] = "not run"
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    assert PublishedFolder(tmp_path / PLACE).unfinished == said


def test_results_of_other_seeds_than_planned_say_so_instead(tmp_path):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    runs["seed"] += 500
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    folder = PublishedFolder(tmp_path / PLACE)
    assert (folder.unfinished, folder.planned_elsewhere) == ("", "seeds 21 to 26")


def test_results_that_no_claim_can_be_judged_by_are_unfinished(tmp_path):
    place = "medium/multi30k/fig2a"
    folder = Path(shutil.copytree(RESULTS / place, tmp_path / place))
    runs = pd.read_csv(folder / "runs.csv")
    runs.loc[runs["arm"] != "no_warmup_low", "status"] = "not run"
    runs.to_csv(folder / "runs.csv", index=False)
    verdicts = json.loads((folder / "verdicts.json").read_text())
    for claim in verdicts["claims"]:
        claim |= {"verdict": "not run", "margins": [], "arms": {}, "p": None, "seeds": 0}
    (folder / "verdicts.json").write_text(json.dumps(verdicts))
    assert PublishedFolder(folder).unfinished == "0 to 6 of 6"


def test_a_measure_of_an_arm_that_is_not_there_is_refused(folder):
    with pytest.raises(UserError, match="has no best_bleu of pre_ln_adma"):
        folder.range("best_bleu", "pre_ln_adma")


def test_a_run_without_a_value_that_did_not_diverge_is_not_counted_as_diverged(tmp_path):
    place, arm = "small/bert_toy/fig5", "post_ln_warmup"
    folder = Path(shutil.copytree(RESULTS / place, tmp_path / place))
    runs = pd.read_csv(folder / "runs.csv")
    of_arm = (runs["arm"] == arm).sum()
    without = of_arm - len(PublishedFolder(folder).values("updates_to_nll", arm))
    said = []
    for row in runs.index[runs["arm"] == arm]:
        runs.assign(status=runs["status"].where(runs.index != row, "diverged")).to_csv(folder / "runs.csv", index=False)
        said.append(PublishedFolder(folder).range("updates_to_nll", arm).partition("; ")[2])
    assert 0 < without < of_arm
    assert sorted(said) == [*[""] * (of_arm - without), *["1 diverged"] * without]


def test_a_run_that_is_not_over_has_no_scale(tmp_path):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    runs.loc[0, ["status", "trained_on"]] = ["failed", None]
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    assert PublishedFolder(tmp_path / PLACE).scale.startswith("29,000 training pairs, 6-6")


def test_placements_stand_by_the_highest_rates_at_which_all_runs_are_good():
    folder = PublishedFolder(RESULTS / "small" / "toy" / "map")
    runs = pd.read_csv(RESULTS / "small" / "toy" / "map" / "runs.csv")
    good = runs[(runs.last_valid_nll < folder.sweep.nlls.line) & (runs.status == "finished")]
    counts = good.groupby(["arm", "lr_max", "warmup_updates"]).size()
    all_good = counts[counts == 3].reset_index()
    found = {label: rates for rates, labels in folder.sweep.placements_by_highest_rates.items() for label in labels}
    assert len(found) == 13
    for label, name in {
        "Post-LN": "post_ln",
        "Pre-LN": "pre_ln",
        "HybridNorm (not all at 0.0005)": "hybrid_norm",
    }.items():
        of_placement = all_good[all_good.arm.str.fullmatch(f"{name}_(none|long)_x[0-9]+")]
        highest = of_placement.groupby("warmup_updates").lr_max.max()
        assert found[label] == (f"{highest[1]:g}", f"{highest[300]:g}")
    assert found["Pre-LN with QK-norm"] == ("0.008", "≥ 0.032"), "no higher rate was tried"
    assert found["BranchNorm †"][0] == "–", "at one rate a single run of three is good"


@pytest.mark.parametrize("column", ["lr_max", "warmup_updates"])
def test_a_folder_whose_arm_has_two_settings_cannot_be_read(tmp_path, column):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    assert readable_folder(tmp_path / PLACE)
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    runs.loc[0, column] = 7
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    assert readable_folder(tmp_path / PLACE) is None
