"""What no command can read is one line."""

import pytest
from helpers import ROOT, error_of, run_script

from lnexp.cli import Parser, refusal

COMMANDS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_and_no_usage(name):
    done = run_script(name, "--no-such-option")
    line = error_of(done)
    assert line.startswith("error: ")
    assert line.endswith("; --help lists the options")


@pytest.mark.parametrize("typed", ["--resluts", "--resluts=x"])
def test_the_nearest_option_is_suggested(typed):
    parser = Parser()
    parser.add_argument("--results")
    said = refusal(parser, f"unrecognized arguments: {typed} y")
    assert said == f"unrecognized arguments: {typed} y; did you mean --results?; --help lists the options"


def test_where_runs_of_a_recipe_lie_is_said_by_their_own_option(tmp_path):
    done = run_script("collect", "+recipe=fig2a", "--runs", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.endswith(f"of a recipe's runs say runs_dir={tmp_path}\n")


def test_a_version_of_the_numerics_is_of_a_recipes_runs(tmp_path):
    done = run_script("collect", str(tmp_path), "--numerics=1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --numerics=1: of a recipe's runs alone")


@pytest.mark.parametrize(("command", "said"), [("verify", "--recipe={}"), ("collect", "+recipe={}")])
def test_a_recipe_whose_claim_cannot_be_judged_is_refused(tmp_path, command, said):
    text = (ROOT / "recipes/fig2a.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("success(no_warmup_low) < 0.5", "best_blue(no_warmup_low) < 0.5"))
    done = run_script(command, said.format(tmp_path / "mine.yaml"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: claim fig2a-no-warmup-fails-low: ")


def test_a_home_that_no_shell_expands_is_explained():
    done = run_script("prepare_data", "data=plain", "data.path=~/corpus")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("data.path=~/corpus; ~ is not expanded behind =, say $HOME")
