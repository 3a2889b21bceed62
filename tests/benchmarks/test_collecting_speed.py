"""The benchmark of collecting writes runs that the commands take for finished ones."""

import pytest

from lnexp.benchmarks import collecting_speed
from lnexp.recipes.load import load_recipe

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def little(monkeypatch):
    monkeypatch.setattr(collecting_speed, "RECIPE", "fig2a")
    monkeypatch.setattr(collecting_speed, "EPOCHS", 3)


def test_a_command_is_timed_with_its_memory(warm_interpreter):
    seconds, megabytes = collecting_speed._timed("show", "--help")
    assert seconds > 0
    assert megabytes > 1


def test_the_commands_take_the_runs_for_finished_ones(tmp_path, warm_interpreter):
    arms = len(load_recipe("fig2a").arms)
    made, *cells = collecting_speed._row(tmp_path, 2 * arms)
    assert int(made) == 2 * arms
    assert len(cells) == len(collecting_speed.COLUMNS) - 1
    assert min(map(float, cells)) > 0
    (table,) = (tmp_path / "results").rglob("runs.csv")
    assert len(table.read_text().splitlines()) == 1 + 2 * arms
    assert "fig2a" in (tmp_path / "report.html").read_text()
