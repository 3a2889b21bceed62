"""How results of this machine are held against the published ones."""

import json
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from helpers import ROOT, change_json, change_provenance, error_of, run_script

from lnexp.paths import LOCAL_RESULTS_DIR, RESULTS_DIR
from lnexp.results.pages.compare import comparison, print_comparisons

pytestmark = pytest.mark.slow

FIG2A = Path("small", "toy", "fig2a")
LEMMA = Path("theory", "gaussian", "theory_lemma1")


@pytest.fixture
def local(tmp_path):
    """Makes a copy of published results that a test may change."""

    def make(place: Path) -> Path:
        return Path(shutil.copytree(RESULTS_DIR / place, tmp_path / place))

    return make


@pytest.mark.parametrize("place", [FIG2A, LEMMA], ids=str)
def test_equal_results_are_alike_and_no_machine_is_another(local, place):
    head, verdicts, arms = comparison(local(place), RESULTS_DIR / place)
    assert head == f"{place}, compared with the published results:"
    count = len(json.loads((RESULTS_DIR / place / "verdicts.json").read_text())["claims"])
    assert verdicts == f"  verdicts: {count} of {count} alike"
    assert "largest differences" in arms
    assert "+0" in arms


def test_another_verdict_is_named_with_both(local):
    folder = local(FIG2A)

    def change(content):
        claim = content["claims"][0]
        claim |= {"verdict": "not run", "estimate": None, "margins": [], "p": None}

    change_json(folder / "verdicts.json", change)
    before = json.loads((RESULTS_DIR / FIG2A / "verdicts.json").read_text())["claims"]
    lines = comparison(folder, RESULTS_DIR / FIG2A)
    assert lines[1:3] == [
        f"  verdicts: {len(before) - 1} of {len(before)} alike",
        f"    {before[0]['id']} not run, published {before[0]['verdict']}",
    ]


def test_a_claim_that_is_not_published_is_said(local):
    theirs, ours = local(FIG2A), RESULTS_DIR / FIG2A
    change_json(theirs / "verdicts.json", lambda content: content["claims"].pop())
    assert comparison(ours, theirs)[2].endswith(" not published")


def test_the_arm_that_differs_most_comes_first_in_points_of_bleu(local):
    folder = local(FIG2A)
    table = pd.read_csv(folder / "runs.csv", dtype={"identity": str})
    arm = table["arm"].unique()[-1]
    table.loc[table["arm"] == arm, "best_valid_bleu"] -= 7.5
    table.to_csv(folder / "runs.csv", index=False)
    (line,) = [line for line in comparison(folder, RESULTS_DIR / FIG2A) if "BLEU" in line]
    assert line.partition(": ")[2].startswith(f"{arm} -7.5 ("), line
    assert f"of {table['arm'].nunique()}:" in line


def test_runs_that_are_not_over_are_no_part_of_a_mean(local):
    folder = local(FIG2A)
    table = pd.read_csv(folder / "runs.csv", dtype={"identity": str})
    table["status"] = "running"
    table.to_csv(folder / "runs.csv", index=False)
    assert "no arm is in both" in "".join(comparison(folder, RESULTS_DIR / FIG2A))


def test_measurements_are_compared_in_percent(local):
    folder = local(LEMMA)
    table = pd.read_csv(folder / "measurements.csv")
    column = "to_claimed"
    table.loc[table["sigma"] == 10, column] *= 1.5
    table.to_csv(folder / "measurements.csv", index=False)
    assert "gaussian at 10 +50% (" in "".join(comparison(folder, RESULTS_DIR / LEMMA))


def test_what_was_zero_has_no_change_in_percent(local, tmp_path):
    folder, theirs = local(LEMMA), tmp_path / "theirs" / LEMMA
    shutil.copytree(folder, theirs)
    table = pd.read_csv(theirs / "measurements.csv")
    table.loc[table["sigma"] == 10, "to_claimed"] = 0.0
    table.to_csv(theirs / "measurements.csv", index=False)
    said = "".join(comparison(folder, theirs))
    assert "largest differences" in said
    assert "inf" not in said


def test_another_machine_torch_numerics_and_settings_are_said(local):
    folder = local(FIG2A)

    def change(content):
        for environment in content["environments"]:
            environment.update(cpu="a faster one", numerics=7, packages={"torch": "9.9"})

    change_provenance(folder, change)
    change_json(folder / "verdicts.json", lambda content: content.update(scope="profile small, data toy, n_seeds=1"))
    text = "\n".join(comparison(folder, RESULTS_DIR / FIG2A))
    assert "other machine: a faster one, cpu; published: AMD EPYC" in text
    assert "other numerics: 7; published: 3" in text
    assert "other torch: 9.9; published: " in text
    assert "other settings: profile small, data toy, n_seeds=1; published: profile small" in text


def test_other_instructions_are_said_where_both_records_have_them(local, tmp_path):
    folder, published = local(FIG2A), tmp_path / "published"
    shutil.copytree(folder, published)
    for place, found in ((folder, "AVX512"), (published, "AVX2")):
        change_provenance(place, lambda content, found=found: _all(content).update(instructions=found))
    assert "other instructions: AVX512; published: AVX2" in "\n".join(comparison(folder, published))
    change_provenance(published, lambda content: _all(content).pop("instructions"))
    assert "other instructions" not in "\n".join(comparison(folder, published))


def _all(content):
    (environment,) = content["environments"]
    return environment


def test_without_published_results_or_with_broken_ones_there_is_one_line(local, tmp_path):
    folder = local(FIG2A)
    assert comparison(folder, tmp_path / "nothing") == [f"{FIG2A}: no published results to compare with"]
    (folder / "runs.csv").write_text("arm\nx\n")
    (line,) = comparison(folder, RESULTS_DIR / FIG2A)
    assert "cannot be compared" in line
    (folder / "verdicts.json").write_text("{}")
    (line,) = comparison(folder, RESULTS_DIR / FIG2A)
    assert "cannot be compared" in line


def test_published_results_are_not_compared_with_themselves(capsys):
    print_comparisons([RESULTS_DIR / FIG2A])
    assert not capsys.readouterr().out


def test_collecting_writes_over_no_published_results_unless_told_to(tmp_path):
    """Nothing was trained here, so that published verdicts would become ``not run``."""
    shutil.copytree(RESULTS_DIR / FIG2A, tmp_path / RESULTS_DIR / FIG2A)
    published = tmp_path / RESULTS_DIR / FIG2A / "verdicts.json"
    before = published.read_bytes()
    alike = [claim["verdict"] for claim in json.loads(before)["claims"]].count("not run")
    words = ["+recipe=fig2a", f"runs_dir={tmp_path / 'runs'}", "profile=small"]
    done = run_script("collect", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert published.read_bytes() == before
    ours = json.loads((tmp_path / LOCAL_RESULTS_DIR / FIG2A / "verdicts.json").read_text())
    assert {claim["verdict"] for claim in ours["claims"]} == {"not run"}
    assert f"verdicts: {alike} of {len(ours['claims'])} alike" in done.stdout
    assert "compared" not in run_script("collect", *words, "--no-comparison", cwd=tmp_path).stdout
    assert "no run of the arm no_warmup_low is over" in error_of(
        run_script("collect", *words, "--publish", cwd=tmp_path)
    )
    assert published.read_bytes() == before
    told = run_script("collect", *words, "--with-published", "--publish", cwd=tmp_path)
    assert f"published: {RESULTS_DIR / FIG2A}\n" in told.stdout, told.stderr
    assert {claim["verdict"] for claim in json.loads(published.read_text())["claims"]} > {"reproduced"}
    assert not (tmp_path / LOCAL_RESULTS_DIR / FIG2A).exists()


def test_local_results_are_out_of_git():
    command = ["git", "check-ignore", "-q", str(LOCAL_RESULTS_DIR / FIG2A / "runs.csv")]
    if not (ROOT / ".git").exists():
        pytest.skip("no repository")
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
