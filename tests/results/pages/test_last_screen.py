"""The last screen: what came out, in 25 lines of 76 columns."""

import re
import shutil
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from helpers import ROOT, change_json, change_provenance, contradict, error_of, run_script

from lnexp.recipes.recipe import Recipe
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import all_verdicts, not_run, sound_recipes
from lnexp.results.pages.last_screen import LINES, last_screen
from lnexp.terminal import WIDTH

pytestmark = pytest.mark.slow

PUBLISHED = ROOT / "results"


@cache
def recipes() -> list[Recipe]:
    return sound_recipes()[0]


def screen(results_dir: Path, **wanted: list[str]) -> str:
    found = all_verdicts(results_dir)
    shown = [one for one in [*found, *not_run(results_dir, found, recipes())] if one.has(**wanted)]
    return last_screen(shown, results_dir, PUBLISHED)


@pytest.fixture
def ours(tmp_path) -> Path:
    """Results like the published ones of fig4ab, on a machine of the user's own."""
    place = "small/toy/fig4ab"
    shutil.copytree(PUBLISHED / place, tmp_path / place, ignore=shutil.ignore_patterns("figure*"))
    return tmp_path


WANTED = [{}, {"recipe": ["fig2a"]}, {"profile": ["theory"]}, {"data": ["multi30k"]}, {"profile": ["paper"]}]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_it_fits_a_terminal(wanted):
    lines = screen(PUBLISHED, **wanted).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH


def test_rows_that_no_shown_recipe_has_are_left_out():
    text = screen(PUBLISHED, recipe=["fig2a"])
    assert [line[:28].rstrip() for line in text.splitlines() if line.startswith(("Post-LN,", "Pre-LN,"))] == [
        "Post-LN, no warm-up",
        "Post-LN, warm-up",
    ]


def test_it_has_ours_the_answer_and_the_paper_s_numbers_apart(ours):
    text = screen(ours, recipe=["fig4ab"])
    rows = {line[:28].rstrip(): line[28:].split("  ") for line in text.splitlines() if "LN" in line}
    assert "8.45" not in " ".join(rows["Post-LN, no warm-up"])
    assert "Post-LN without warm-up gets a quarter of its BLEU with warm-up" in " ".join(text.split())
    (trained,) = [cell for cell in rows["Pre-LN, no warm-up"] if " of 10)" in cell]
    assert trained.strip().endswith("(10 of 10)")
    assert (
        "With Adam at lr_max 0.002 Post-LN needs warm-up, Pre-LN trains without it: reproduced on embedded corpus."
        in " ".join(text.split())
    )
    assert "published results: 17 of 17 verdicts alike" in text
    assert f"RESULTS={ours}" in text


def test_two_profiles_of_one_corpus_are_told_apart(ours):
    shutil.copytree(ours / "small", ours / "medium")
    text = " ".join(screen(ours, recipe=["fig4ab"]).split())
    assert "reproduced on embedded corpus (medium) and embedded corpus (small)" in text


def without_open_ones(ours):
    """Leave out the claims that are contradicted or inconclusive, which leave no room to name others."""

    def change(content):
        content["claims"] = [one for one in content["claims"] if one["verdict"] in ("reproduced", "not run")]

    change_json(ours / "small/toy/fig4ab/verdicts.json", change)
    return len(read_verdicts(ours / "small/toy/fig4ab/verdicts.json").claims)


def test_what_differs_from_published_results_and_is_contradicted_is_named(ours):
    claims = without_open_ones(ours)
    contradict(ours / "small/toy/fig4ab", "fig4ab-placement-decides")
    text = screen(ours)
    assert "contradicted: `fig4ab-placement-decides` (embedded corpus)" in " ".join(text.split())
    assert "contradicted on embedded corpus" in " ".join(text.split())
    alike = f"published results: {claims - 1} of {claims} verdicts alike; no arm's best score differs"
    assert f"{alike} other verdicts: fig4ab-placement-decides" in " ".join(text.split())


def test_how_far_ours_are_and_what_made_them_is_said(ours):
    place = ours / "small/toy/fig4ab"
    table = pd.read_csv(place / "runs.csv", dtype=str)
    chosen = table["arm"] == "pre_ln_adam"
    table.loc[chosen, "best_valid_bleu"] = (table["best_valid_bleu"][chosen].astype(float) - 7).astype(str)
    table.to_csv(place / "runs.csv", index=False)
    change_provenance(
        place, lambda content: [one.update(cpu="another", numerics=99) for one in content["environments"]]
    )
    text = " ".join(screen(ours).split())
    assert "verdicts alike; largest difference fig4ab pre_ln_adam -7 BLEU; other machine, numerics " in text
    table[table["seed"] == "103"].to_csv(place / "runs.csv", index=False)
    assert "largest difference fig4ab pre_ln_adam -7 BLEU;" in screen(ours).replace("\n  ", " "), "of one seed"
    table.assign(seed=table["seed"].map("9{}".format)).to_csv(place / "runs.csv", index=False)
    assert "BLEU (other seeds); other machine" in " ".join(screen(ours).split())


def test_the_largest_difference_is_of_all_recipes_that_can_be_read(ours, monkeypatch):
    for name in ("fig2a", "small_fixed_lr"):
        shutil.copytree(PUBLISHED / "small/toy" / name, ours / "small/toy" / name)
    for name, points in (("fig2a", 3), ("small_fixed_lr", 40)):
        path = ours / "small/toy" / name / "runs.csv"
        table = pd.read_csv(path, dtype={"identity": str})
        table.assign(best_valid_bleu=table["best_valid_bleu"] - points).to_csv(path, index=False)
    assert re.search(r"largest difference small_fixed_lr \w+ -40 BLEU", " ".join(screen(ours).split()))
    (ours / "small/toy/small_fixed_lr/provenance.json").write_text("{")
    assert re.search(r"largest difference fig2a \w+ -3 BLEU", " ".join(screen(ours).split()))
    monkeypatch.chdir(ours)  # where their paths are short, as a user's are
    assert len(screen(Path()).splitlines()) <= LINES


def test_runs_that_recipes_share_count_once(ours):
    shutil.copytree(ours / "small/toy/fig4ab", ours / "small/toy/fig4ab_coupled")
    runs = (PUBLISHED / "small/toy/fig4ab/runs.csv").read_text().splitlines()
    assert f"{len(runs) - 1} of {len(runs) - 1} runs done" in screen(ours, profile=["small"])


def test_failed_and_missing_runs_are_counted(ours):
    path = ours / "small/toy/fig4ab/runs.csv"
    text = path.read_text().replace(",finished,", ",failed,", 1).replace(",finished,", ",not run,", 1)
    path.write_text(text.replace(",finished,", ",diverged,", 1))
    assert "48 of 50 runs done, 1 with a loss that is not finite; 1 ended by an error, 1 not done" in " ".join(
        screen(ours).split()
    )


def test_results_of_ones_own_are_not_counted_with_what_the_project_has_not_run(tmp_path):
    place = Path("small", "toy", "fig2a")
    shutil.copytree(PUBLISHED / place, tmp_path / place)
    done = run_script("verify", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    own = len(read_verdicts(tmp_path / place / "verdicts.json").claims)
    told = sum(
        map(int, re.findall(r"(\d+)\s+(?:claims\s+judged|not\s+run|more\s+do(?:es)?\s+not\s+count)", done.stdout))
    )
    assert told == own
    done = run_script("verify", "--results", str(tmp_path / "nothing"))
    assert error_of(done)


def test_a_claim_that_is_open_has_its_numbers_and_the_command_that_plans_its_seeds(ours, monkeypatch):
    path = ours / "small/toy/fig4ab/verdicts.json"
    without_open_ones(ours)

    def change(content):
        claim = next(one for one in content["claims"] if one["id"] == "fig4ab-placement-decides")
        claim["verdict"] = "inconclusive"
        for interval in (claim["estimate"], *claim["margins"]):
            interval["low"], interval["high"] = -1.0, 1.0

    change_json(path, change)
    monkeypatch.chdir(ours)  # where their paths are short, as a user's are
    text = " ".join(screen(Path()).split())
    (judged,) = [one for one in read_verdicts(path).claims if one.id == "fig4ab-placement-decides"]
    assert f"inconclusive: {judged.id}, {judged.estimate_text}" in text
    assert "python scripts/power.py small/toy/fig4ab (seeds" in text


def test_nothing_is_to_be_planned_where_no_claim_is_open(ours):
    def change(content):
        content["claims"] = [one for one in content["claims"] if one["verdict"] == "reproduced"]

    change_json(ours / "small/toy/fig4ab/verdicts.json", change)
    assert "power.py" not in screen(ours)
