"""Local results become the published ones."""

import json
import shutil
from pathlib import Path

import pytest
from helpers import change_provenance, run_script

from lnexp.errors import UserError
from lnexp.paths import LOCAL_RESULTS_DIR, RESULTS_DIR
from lnexp.result_tables import read_table, write_table
from lnexp.results.writing.publish import print_published, publish, refuse_some_arms

FIG2A = Path("small", "toy", "fig2a")


@pytest.fixture
def places(tmp_path) -> tuple[Path, Path]:
    """Roots of local and of published results, the published fig2a with a file that the local one does not have."""
    local, published = tmp_path / LOCAL_RESULTS_DIR, tmp_path / RESULTS_DIR
    for root in (local, published):
        shutil.copytree(RESULTS_DIR / FIG2A, root / FIG2A)
    (published / FIG2A / "outcomes.csv").write_text("of an older state")
    (local / FIG2A / "table.md").write_text("ours")
    return local, published


def test_a_folder_is_replaced_as_a_whole_and_no_longer_local(places):
    local, published = places
    assert publish("fig2a", local=local, published=published) == [published / FIG2A]
    assert (published / FIG2A / "table.md").read_text() == "ours"
    assert not (published / FIG2A / "outcomes.csv").exists()
    assert not (local / FIG2A).exists()
    assert "fig2a" in (published / "verdicts.md").read_text()
    assert [path.name for path in (published / FIG2A).parent.iterdir()] == ["fig2a"]


@pytest.mark.parametrize("of", [0, 1])
@pytest.mark.parametrize(("old", "new"), [("pairs", "pairs, with max_epoch=3"), ("3,000", "300")])
def test_results_of_another_corpus_or_options_take_the_place_of_none(places, of, old, new):
    local, published = places
    path = places[of] / FIG2A / "verdicts.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"scope": content["scope"].replace(old, new)}))
    with pytest.raises(UserError, match=r"fig2a: of profile small, .*, and .* of profile small, .*; delete .* first"):
        publish("fig2a", local=local, published=published)


def test_the_order_of_options_makes_no_other_results(places):
    local, published = places
    for root, options in ((local, "max_epoch=3 lr_max=1"), (published, "lr_max=1 max_epoch=3")):
        path = root / FIG2A / "verdicts.json"
        content = json.loads(path.read_text())
        path.write_text(json.dumps(content | {"scope": f"{content['scope']}, with {options}"}))
    assert publish("fig2a", local=local, published=published)


def test_published_results_that_a_kill_has_set_aside_are_what_new_ones_are_held_against(places, monkeypatch):
    local, published = places

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", killed)
        with pytest.raises(KeyboardInterrupt):
            publish("fig2a", local=local, published=published)
    assert not (published / FIG2A).exists()
    path = published / "small" / "toy" / ".fig2a.old" / "verdicts.json"
    verdicts = json.loads(path.read_text())
    verdicts["claims"][0]["registered"] = "after"
    path.write_text(json.dumps(verdicts))
    with pytest.raises(UserError, match=r"claim .* was not registered before the published results with seed 101"):
        publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").is_file()


@pytest.mark.parametrize("where", [{"recipe": "fig2b"}, {"recipe": "fig2a", "profile": "paper"}])
def test_what_is_not_there_is_not_published(places, where):
    local, published = places
    with pytest.raises(UserError, match="no such results"):
        publish(**where, local=local, published=published)


def test_results_of_some_arms_are_refused_and_nothing_is_moved(places):
    local, published = places
    path = local / FIG2A / "runs.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ",warmup_low," not in line))
    with pytest.raises(UserError, match="lacks the arm warmup_low; published results have all 4 arms"):
        publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").exists()
    with pytest.raises(UserError, match=r"arms=warmup_\*: published results have all arms"):
        refuse_some_arms(["data=toy", "arms=warmup_*"])


def test_results_without_a_run_of_an_arm_are_refused(places):
    local, published = places
    path = local / FIG2A / "runs.csv"
    lines = path.read_text().splitlines(keepends=True)
    of_arm = [",warmup_low," in line for line in lines]
    changed = [line.replace(",finished,", ",not run,") if of else line for line, of in zip(lines, of_arm, strict=True)]
    path.write_text("".join(changed))
    with pytest.raises(UserError, match="no run of the arm warmup_low is over"):
        publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").exists()


def test_malformed_results_are_refused_and_nothing_is_moved(places):
    local, published = places
    (local / FIG2A / "verdicts.json").write_text(json.dumps({}))
    with pytest.raises(UserError):
        publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").exists()


def test_the_command_moves_and_says_where(places, tmp_path):
    done = run_script("publish", "--recipe", "fig2a", "--data", "toy", cwd=tmp_path)
    assert done.stdout == f"published: {RESULTS_DIR / FIG2A}\n", done.stderr
    again = run_script("publish", "--recipe", "fig2a", cwd=tmp_path)
    assert again.returncode == 2
    assert "no such results" in again.stderr


@pytest.mark.parametrize("dirty", [True, False, None])
def test_results_made_with_changes_in_no_commit_are_published_with_a_warning(places, dirty, capsys):
    local, _ = places
    git = {"commit": "c" * 40, "dirty": dirty}
    change_provenance(local / FIG2A, lambda content: content["environments"][-1].update(git=git))
    print_published([local / FIG2A])
    assert ("in no commit" in capsys.readouterr().out) is bool(dirty)


@pytest.mark.parametrize("shift", [0, 80])
@pytest.mark.parametrize("change", [{"registered": "after"}, {"id": "another"}])
def test_a_claim_that_was_written_after_results_of_the_same_seeds_does_not_become_older(places, change, shift):
    """Code that trains published seeds again has the claims that were written with these results in view."""
    local, published = places
    change_claim(published / FIG2A, "fig2a-warmup-makes-lr-harmless-nll", **change)
    change_claim(local / FIG2A, "fig2a-warmup-makes-lr-harmless-nll", registered="before")
    path = local / FIG2A / "runs.csv"
    runs = read_table(path)
    write_table(path, runs.assign(seed=runs.seed + shift))
    if shift:
        publish("fig2a", local=local, published=published)
        assert not (local / FIG2A).exists()
    else:
        with pytest.raises(UserError, match="lr-harmless-nll was not registered before the published results"):
            publish("fig2a", local=local, published=published)
        assert (published / FIG2A / "outcomes.csv").exists()


def change_claim(folder: Path, name: str, **changed: str) -> None:
    path = folder / "verdicts.json"
    content = json.loads(path.read_text())
    content["claims"] = [claim | changed if claim["id"] == name else claim for claim in content["claims"]]
    path.write_text(json.dumps(content))


def test_results_of_fewer_seeds_take_the_place_of_none(places):
    local, published = places
    path = local / FIG2A / "runs.csv"
    runs = read_table(path)
    for fewer in (runs.seed < 103, (runs.arm == "no_warmup_low") | (runs.seed < 103)):
        write_table(path, runs[fewer])
        with pytest.raises(UserError, match=r"has 2 seeds, and 10 in (.*); delete \1 first"):
            publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").exists()
    shutil.rmtree(published / FIG2A)
    assert publish("fig2a", local=local, published=published) == [published / FIG2A]


def test_a_plan_is_not_made_shorter_by_publishing_again(places):
    """As of a recipe of one's own, whose history git does not know."""
    local, published = places
    change_provenance(local / FIG2A, lambda content: content["planned"].update(n_seeds=5))
    with pytest.raises(UserError, match=r"plans 5 seeds, and .* 10; delete .* first"):
        publish("fig2a", local=local, published=published)
    assert (published / FIG2A / "outcomes.csv").exists()
