"""What ``import lnexp`` gives: the same answers as the commands, wherever Python runs, and one line for a mistake."""

import subprocess
import warnings

import pytest
from helpers import PYTHON, ROOT, TINY
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hypothesis import given
from hypothesis import strategies as st

import lnexp
from lnexp.overrides import from_folder
from lnexp.paths import RESULTS_DIR
from lnexp.results.judging.tally import tally
from lnexp.results.judging.verdicts import all_verdicts


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> list[str]:
    """Overrides for folders of this module; their names need quoting."""
    base = tmp_path_factory.mktemp("my runs (1)")
    return [*TINY, f"runs_dir='{base}/runs'", f"data_dir='{base}/data'", "max_epoch=1"]


@pytest.fixture(scope="module", autouse=True)
def _warm(warm_interpreter):
    """Have what this module trains be imported already."""


@pytest.fixture(scope="module")
def folders(places):
    return lnexp.train(*places, "model=post_ln,pre_ln", "warmup_updates=1", "seed=1,2")


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, lnexp; dir(lnexp); print([name for name in ('torch', 'pandas', 'fairseq') if name in sys.modules])"
    )
    done = subprocess.run([*PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        lnexp.trian  # noqa: B018


def test_a_config_is_checked_and_its_folders_are_those_of_the_project(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = lnexp.compose("model=pre_ln", "lr_max=1e-3", "runs_dir=mine")
    assert config.lr_max == 1e-3
    assert config.runs_dir == str(ROOT / "mine")
    assert config.data_dir == str(ROOT / "data")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lnexp.compose("model=pre_nl"), "did you mean pre_ln"),
        (lambda: lnexp.compose("lr_max=-1"), "must be positive"),
        (lambda: lnexp.compose("lr_max=1e-3,2e-3"), "Ambiguous value"),
        (lambda: lnexp.compose("+recipe=fig2a"), "a recipe is many runs"),
        (lambda: lnexp.compose("lr_max=a b=("), "mismatched input"),
        (lambda: lnexp.train("+recipe=figx"), "no such recipe"),
        (lambda: lnexp.load_runs("no/such/place"), "no runs there"),
        (lambda: lnexp.plot("no/such/place"), "no runs there"),
        (lambda: lnexp.verdicts("no/such/place"), "no results there"),
    ],
)
def test_a_mistake_is_one_line(call, message):
    with pytest.raises(lnexp.UserError, match=message) as raised:
        call()
    assert "Traceback" not in str(raised.value)


@pytest.mark.slow
def test_a_sweep_is_trained_and_its_folders_come_in_its_order(folders):
    assert [path.name.split("-")[0] for path in folders] == ["post_ln", "post_ln", "pre_ln", "pre_ln"]
    assert all((path / "metrics.jsonl").is_file() for path in folders)


@pytest.mark.slow
def test_what_is_trained_already_is_not_trained_again(folders, places, capfd):
    before = [(path / "metrics.jsonl").stat().st_mtime_ns for path in folders]
    assert lnexp.train(*places, "model=post_ln,pre_ln", "warmup_updates=1", "seed=1,2") == folders
    assert [(path / "metrics.jsonl").stat().st_mtime_ns for path in folders] == before


@pytest.mark.slow
def test_a_failure_in_training_says_what_the_command_says(places):
    with pytest.raises(lnexp.UserError, match="restore_file"):
        lnexp.train(*places, "fairseq.checkpoint.restore_file=/no/such/file")


@pytest.mark.slow
def test_runs_are_a_table_with_a_row_a_run(folders):
    runs = lnexp.load_runs(*folders)
    assert list(runs["setting"]) == ["model=post_ln"] * 2 + ["model=pre_ln"] * 2
    assert list(runs["seed"]) == [1, 2, 1, 2]
    assert set(runs["status"]) == {"finished"}
    assert list(runs["folder"]) == [str(path) for path in folders]
    assert runs["best_valid_nll"].between(0, 20).all()


@pytest.mark.slow
def test_epochs_are_a_table_with_the_settings_of_their_run(folders):
    epochs = lnexp.load_runs(*folders, epochs=True)
    assert len(epochs) == 4
    assert set(epochs["epoch"]) == {1}
    best = lnexp.load_runs(*folders).set_index("identity")["best_valid_nll"]
    assert (epochs.set_index("identity")["valid_nll"] == best).all()


@pytest.mark.slow
def test_a_folder_that_is_damaged_is_left_out_with_a_warning(folders, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "config.yaml").write_text("seed: none\n")
    (tmp_path / "bad" / "status.json").write_text("{}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        runs = lnexp.load_runs(*folders, tmp_path)
    assert len(runs) == 4
    assert any("left out" in str(warning.message) and warning.filename == __file__ for warning in said)


@pytest.mark.slow
def test_curves_are_a_figure_that_can_be_changed(folders, tmp_path):
    figure = lnexp.plot(*folders)
    assert len(figure.axes) >= 3
    figure.savefig(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000


def test_verdicts_are_those_of_the_published_files():
    verdicts = lnexp.verdicts(RESULTS_DIR)
    one = verdicts.query("data == 'toy' and claim == 'fig4ab-placement-decides'").iloc[0]
    assert (one["verdict"], one["counts"], one["seeds"], one["planned"]) == ("reproduced", True, 10, 10)
    assert one["low"] <= one["estimate"] <= one["high"]


def test_verdicts_count_each_piece_of_evidence_once():
    verdicts = lnexp.verdicts(RESULTS_DIR)
    said = tally(claim for one in all_verdicts(RESULTS_DIR) for claim in one.content.claims)
    assert said.repeated
    counted = verdicts[verdicts["counts"] & ~verdicts["repeated"]].groupby("verdict").size().to_dict()
    assert counted == {verdict: number for verdict, number in said.verdicts.items() if number}
    assert verdicts["repeated"].sum() == len(said.repeated)


@given(name=st.text(st.characters(codec="ascii", exclude_characters="\x00", exclude_categories=["Cc"]), min_size=1))
def test_a_relative_path_is_one_of_the_project(name):
    """Whatever a folder is called, Hydra reads back the path that was meant."""
    quoted = "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
    try:
        meant = str(OverridesParser.create().parse_override(f"runs_dir={quoted}").value())
    except HydraException:  # what Hydra refuses is not for us to mend
        return
    said = from_folder(f"runs_dir={quoted}", ROOT)
    read = OverridesParser.create().parse_override(said).value()
    assert str(read) == str(ROOT / meant) or meant in ("None", "") or "://" in meant or meant.startswith("~")


@pytest.mark.parametrize(
    "override", ["lr_max=1e-3", "~data.path", "+recipe=fig2a", "+recipe=fig2a,fig4ab", "model=pre_ln"]
)
def test_an_override_that_names_no_place_stays(override):
    assert from_folder(override, ROOT) == override


def test_a_recipe_file_of_ones_own_is_found_from_anywhere():
    assert from_folder("+recipe=mine/one.yaml,fig2a", ROOT) == f"+recipe='{ROOT}/mine/one.yaml',fig2a"


def test_quoted_places_of_a_sweep_are_found_from_anywhere():
    assert from_folder("runs_dir='a b','c,d'", ROOT) == f"runs_dir='{ROOT}/a b','{ROOT}/c,d'"
