"""Arms whose runs were trained by different code."""

import ast
from dataclasses import replace

import pytest

from lnexp.extensions import PACKAGE
from lnexp.results.evidence.mixed_code import code_of, mixed_code
from lnexp.results.tables.frames import run_frame
from lnexp.results.writing.write import write_results
from lnexp.results.writing.write_set import write_set
from lnexp.runs.code_digest import digest_of, older_digest_of

ONE, OTHER = ({"plugin/layers.py": digits, "training/loop.py": "0" * 12} for digits in ("1" * 12, "2" * 12))


def of_code(run, code, **more):
    return replace(run, environment=run.environment | {"code": code, **more})


@pytest.mark.usefixtures("without_figures")
def test_an_arm_of_different_code_is_named_with_what_differs(make_run, tmp_path):
    runs = [of_code(make_run("good", seed, [90.0]), code) for seed, code in ((1, ONE), (2, OTHER), (3, ONE))]
    runs += [of_code(make_run("bad", seed, [1.0]), OTHER) for seed in (1, 2)]
    (line,) = mixed_code(runs)
    assert line == "the runs of good were trained by different code (plugin/layers.py): seeds 1, 3 / seed 2"
    assert f"Mixed code: {line}." in (write_results(make_run.recipe, runs, "", tmp_path) / "table.md").read_text()
    write_set(runs, [], tmp_path)
    assert f"Mixed code: {line}." in (tmp_path / "table.md").read_text()


def test_a_run_that_other_code_has_resumed_is_named(make_run):
    (line,) = mixed_code([of_code(make_run("good", 1, [90.0]), ONE, earlier_code=[OTHER])])
    assert "(plugin/layers.py): seed 1" in line


def test_digests_of_the_older_form_are_those_of_the_same_code(make_run):
    tree = lambda: ast.parse((PACKAGE / "plugin/layers.py").read_text())  # noqa: E731  (digesting changes it)
    older, today = {"plugin/layers.py": older_digest_of(tree())}, {"plugin/layers.py": digest_of(tree())}
    assert older != today
    runs = [of_code(make_run("good", 1, [90.0]), older), of_code(make_run("good", 2, [90.0]), today)]
    runs += [of_code(make_run("good", 3, [90.0]), today, earlier_code=[older])]
    assert mixed_code(runs) == []
    assert len(set(run_frame(runs).code)) == 1


def test_nothing_is_said_of_one_code_of_unknown_code_and_of_runs_that_are_not_over(make_run):
    known = of_code(make_run("good", 1, [90.0]), ONE)
    going = of_code(make_run("good", 3, [1.0], state="running"), OTHER)
    assert mixed_code([known, make_run("good", 2, [90.0]), going, of_code(make_run("bad", 1, [1.0]), OTHER)]) == []


def test_a_table_of_runs_has_a_digest_of_their_code(make_run):
    runs = [of_code(make_run("good", seed, [90.0]), code) for seed, code in ((1, ONE), (2, OTHER), (3, ONE))]
    one, other, again = run_frame(runs).code
    assert one == again == code_of(runs[0].environment) != other
    assert run_frame([make_run("good", 1, [90.0])]).code.isna().all()
