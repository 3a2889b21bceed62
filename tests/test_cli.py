"""What no command can read is one line."""

import pytest
from helpers import ROOT, error_of, run_script

from lnexp.cli import EXIT_USER_ERROR, Parser, refusal
from lnexp.configuration import compose

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


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("subword=null", "subword=null: must be the name of a file in configs/subword; say none"),
        ("model=3", "model=3: must be the name of a file in configs/model"),
        ("+warmup_update=1", "+warmup_update: no such option; did you mean warmup_updates"),
        ("++diagnostics.sharpnes=3", "++diagnostics.sharpnes: no such option; did you mean diagnostics.sharpness"),
        ("recipe=fig2a", "recipe=…: is added, so say +recipe=…"),
    ],
)
def test_what_names_nothing_is_refused_in_a_line(typed, said):
    done = run_script("train", typed)
    assert done.returncode == EXIT_USER_ERROR
    assert done.stderr.startswith(f"error: {said}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("folder", ["Läufe", "a&b;c", "a folder", "ünï#cødé"])
def test_a_path_may_have_any_letters(tmp_path, folder):
    assert compose([f"runs_dir={tmp_path / folder}"]).runs_dir == str(tmp_path / folder)
    assert compose([f"""runs_dir='{tmp_path / folder}'"""]).runs_dir == str(tmp_path / folder), "quoted already"


@pytest.mark.parametrize("command", ["collect", "plan"])
def test_every_command_takes_such_a_path(tmp_path, command):
    where = ["--results", str(tmp_path)] if command == "collect" else []
    done = run_script(command, "+recipe=fig2a", "n_seeds=1", f"runs_dir={tmp_path / 'Läufe #1'}", *where)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("verify", ["--profile", "nope"], "--profile=nope: no such profile; there are: medium, paper, small, theory"),
        ("verify", ["--data", "multi30"], "--data=multi30: no such data; did you mean multi30k"),
        ("power", ["--mean", "1", "--sd", "-1"], "--mean must be a number, and --sd one above 0"),
        ("judge", ["--results", "/nope"], "/nope: no results there"),
        ("collect", ["+recipe=fig2a", "--results", "x", "n_seeds=0"], "n_seeds=0: must be at least 1"),
        ("collect", ["+recipe=fig2a", "arms=[]"], "arms=[]: must be names or patterns as post_ln_*"),
        ("plan", ["+recipe=fig2a", "first_seed=abc"], "first_seed=abc: must be a whole number, at least 0"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_by_every_command(command, words, said):
    done = run_script(command, *words)
    assert done.returncode == EXIT_USER_ERROR
    assert done.stderr.startswith(f"error: {said}")
