"""Every code block, command and relative link of README.md and docs/ is valid.

Python and YAML blocks are parsed. Commands are given to the parsers of their programs, their overrides are composed,
and the recipes, make targets and folders that they name must exist. Blocks and commands of unknown kinds are failures.
"""

import argparse
import csv
import fnmatch
import itertools
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
import yaml
from helpers import ROOT
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from markdown_it import MarkdownIt
from markdown_it.token import Token
from warm_commands import run_warm

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.paths import CONFIG_DIR
from lnexp.planning.devices import DEVICES
from lnexp.recipes.command_line import split_recipes
from lnexp.recipes.jobs import THEORY
from lnexp.results.pages.pages import PART, WHOLE

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: Pages of which everything is made of results.
MADE = [ROOT / page for page in WHOLE]

#: Placeholders of the documents, and values that they may have; ``OWN`` becomes a folder with text of the user's own.
#: Besides these, a whole argument ``…`` stands for further options, and ``/…/`` for folders of a path.
PLACEHOLDERS = {
    "FOLDER": "OWN",
    "PATH": "OWN",
    "DATA-BIN": "OWN",
    "data.path=…": "data.path=OWN",
    "data.name=…": "data.name=mine",
    "checkpoint=…": "checkpoint=checkpoint.pt",
    "+recipe=…": "+recipe=fig2a",
    "reproduce-…": "reproduce-iwslt",
    "DATA=…": "DATA=toy",
    "/their/results": "results",
    "FILE…": "README.md",
    "RUN": "RUN",
}
#: Documents that a test of their own follows word by word, on a copy of the project. Their commands name what they add,
#: so here their overrides are not composed.
TUTORIALS = {"extending.md": "test_extending.py"}
PLACEHOLDER = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, PLACEHOLDERS))})(?!\w)")
#: Options of a command that are not of the config, and values that are accepted.
OWN_OPTIONS: dict[str, dict[str, Callable[[str], bool]]] = {
    "plan": {"device": [*DEVICES, "cpu", "cuda"].__contains__, "gpus": str.isdigit},
    "probe": {"checkpoint": lambda path: path.endswith(".pt"), "parameters": lambda names: names.startswith("[")},
}
#: Commands whose first argument names a run; in the documents it is a placeholder or the identity of a published run.
TAKE_A_RUN = ("show", "translate")
#: A code span that begins with one of these and has arguments is a command.
PROGRAMS = ("python", "make", "fairseq-train", "torchrun", "wandb", "scripts/")


class Code(NamedTuple):
    """A code block or a command in a text, and where it is."""

    kind: str
    text: str
    place: str


def tokens(document: Path) -> Iterator[tuple[Token, int]]:
    """Yield all tokens of a document, each with its line."""
    line = 0
    for token in MarkdownIt("commonmark").enable("table").parse(document.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else line
        yield token, line
        for child in token.children or ():
            yield child, line


def code_of(document: Path) -> Iterator[Code]:
    """Yield the code blocks of a document, and the commands in its text."""
    commands = "tutorial" if document.name in TUTORIALS else "sh"
    for token, line in tokens(document):
        place = f"{document.relative_to(ROOT)}:{line}"
        if token.type == "fence":
            yield Code(commands if token.info == "sh" else token.info, token.content, place)
        elif token.type == "code_block":
            is_layout = token.content.split(maxsplit=1)[0].endswith("/")
            yield Code("layout" if is_layout else commands, token.content, place)
        elif token.type == "code_inline" and token.content.startswith(PROGRAMS) and " " in token.content:
            yield Code(commands, token.content, place)


def links_of(document: Path) -> Iterator[str]:
    for token, _ in tokens(document):
        if address := token.attrGet("href") or token.attrGet("src"):
            yield str(address)


ALL_CODE = [code for document in DOCUMENTS for code in code_of(document)]


@pytest.fixture(scope="module")
def own_text(tmp_path_factory) -> Path:
    """A folder with text in all languages that the documents name."""
    folder: Path = tmp_path_factory.mktemp("text")
    for split, language in itertools.product(("train", "valid", "test"), ("de", "en", "fr")):
        (folder / f"{split}.{language}").write_text("a b\n")
    for language in ("de", "en"):
        (folder / f"all.{language}").write_text("a b\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("code", ALL_CODE, ids=[f"{code.place} {code.kind}" for code in ALL_CODE])
def test_code_is_valid(code, own_text, monkeypatch):
    monkeypatch.chdir(ROOT)
    check = BLOCKS.get(code.kind)
    assert check, f"{code.place}: a block of unknown kind {code.kind!r}"
    check(code.text, own_text)


@pytest.mark.parametrize(("document", "test"), TUTORIALS.items())
def test_tutorials_have_a_test_of_their_own(document, test):
    assert document in (ROOT / "tests" / test).read_text()


def test_blocks_and_commands_are_found():
    assert {"python", "yaml", "sh", "layout"} <= {code.kind for code in ALL_CODE}
    texts = [code.text for code in ALL_CODE]
    assert {"make reproduce-iwslt\n", "make test\n"} <= set(texts), "indented blocks"
    assert "scripts/gpu_grid.sh --minutes 25" in texts, "commands within a paragraph"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(document):
    for address in links_of(document):
        if address.startswith(("https://", "http://")):
            continue
        path, _, fragment = address.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), address
        assert not fragment or unquote(fragment) in headings(target), address


#: A number with a unit of what is measured, as in ``17.9 minutes``.
MEASURED = re.compile(
    r"\b\d[\d,.]*(?: (?:s|seconds|minutes|hours|KB|MB|GB|KiB|MiB|GiB|BLEU|core-hours|(?:updates|pairs) a second)\b"
    r"|(?:%| times) (?:slower|faster|as fast)\b)"
)
#: Settings with such a unit, and the paper's numbers.
NOT_MEASURED = {"80 MiB", "34 BLEU", "100 BLEU"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_measured_numbers_are_made_or_stand_among_the_measured(document):
    """A number that was measured comes from results, or is on the page that says how, where and when."""
    if document not in MADE:
        typed = PART.sub("", document.read_text(encoding="utf-8"))
        known = measured_in((ROOT / "docs" / "measured.md").read_text(encoding="utf-8"))
        assert measured_in(typed) <= known | NOT_MEASURED


def measured_in(text: str) -> set[str]:
    """Return the numbers with a unit in a text, wherever its lines break."""
    return set(MEASURED.findall(" ".join(text.split())))


@pytest.mark.parametrize(
    "text", ["It took 5.07 s.", "1,277 MB", "24,437 pairs a second", "1.97 times as fast", "2.7% slower", "96 BLEU"]
)
def test_measured_numbers_are_found(text, tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"{text}\n")
    with pytest.raises(AssertionError):
        test_measured_numbers_are_made_or_stand_among_the_measured(document)


def test_the_table_of_options_has_every_file_of_its_groups():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs/running.md").read_text(), re.MULTILINE)
    groups = {group: re.findall(r"`(\w+)`", values) for group, values in rows if (CONFIG_DIR / group).is_dir()}
    assert {"model", "task", "data", "subword"} <= groups.keys()
    for group, values in groups.items():
        assert sorted(values) == sorted(path.stem for path in (CONFIG_DIR / group).glob("[!_]*.yaml")), group


def test_the_readme_fits_on_a_few_screens():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 160
    assert len(text.split()) <= 1400


def test_published_pages_need_no_run_of_ones_own():
    """Documents name no run that a newcomer does not have: none by its identity."""
    identities = published_runs()
    for document in DOCUMENTS:
        if document not in MADE:
            assert not identities & set(re.findall(r"\b[0-9a-f]{8}\b", document.read_text(encoding="utf-8"))), document


def headings(document: Path) -> set[str]:
    """Return the fragments that a page makes of a document's headings."""
    texts = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]|[¹²³]", "", text.lower()).replace(" ", "-") for text in texts}


def check_python(text: str, _own: Path) -> None:
    compile(text, "block", "exec")


def check_yaml(text: str, _own: Path) -> None:
    assert isinstance(yaml.safe_load(text), dict)


def check_layout(text: str, _own: Path) -> None:
    for line in text.splitlines():
        path = line.split(maxsplit=1)[0]
        assert list(ROOT.glob(path.rstrip("/"))), f"{path}: no such file or folder"


def check_commands(text: str, own: Path) -> None:
    for line in text.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            check_command([fill(word, own) for word in words if word != "…"])


def check_tutorial_commands(text: str, _own: Path) -> None:
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        if program == "make":
            check_make(arguments)
        else:
            assert program == "python"
            assert (ROOT / arguments[0]).is_file(), line


BLOCKS = {
    "python": check_python,
    "yaml": check_yaml,
    "layout": check_layout,
    "sh": check_commands,
    "tutorial": check_tutorial_commands,
}


def fill(word: str, own: Path) -> str:
    """Return an argument with its placeholders replaced."""
    filled = PLACEHOLDER.sub(lambda found: PLACEHOLDERS[found[0]].replace("OWN", str(own)), word)
    assert "…" not in filled.replace("/…/", "/"), f"{word}: a placeholder that is not in the table"
    return filled


def check_command(words: list[str]) -> None:
    program, *arguments = words
    if program.endswith("python") and arguments[0].startswith("scripts/"):
        check_script(arguments[0], arguments[1:])
    elif program.startswith("scripts/"):
        check_script(program, arguments)
    elif program in CHECKS:
        CHECKS[program](arguments)
    else:
        pytest.fail(f"{shlex.join(words)}: a command of unknown kind")


def check_script(path: str, arguments: list[str]) -> None:
    assert (ROOT / path).is_file(), path
    name = Path(path).stem
    if path.endswith(".sh"):
        options = re.findall(r"--[a-z-]+", (ROOT / path).read_text())
        assert {argument for argument in arguments if argument.startswith("--")} <= set(options), arguments
    elif name == "train":
        parsed = get_args_parser().parse_args(arguments)
        check_overrides(name, parsed.overrides, sweep=parsed.multirun)
    else:
        parsed = parse(path, arguments)
        check_overrides(name, [word for word in getattr(parsed, "overrides", []) if "=" in word])
        if name in TAKE_A_RUN:
            assert parsed.run == "RUN" or parsed.run in published_runs(), parsed.run


class Parsed(Exception):  # noqa: N818  (not an error)
    """Ends a command when its arguments are parsed."""


def parse(path: str, arguments: list[str]) -> Any:
    """Run a script up to the moment when it has parsed its arguments, and return them.

    Raises:
        SystemExit: where its parser refuses them.
    """
    original = argparse.ArgumentParser.parse_known_args

    def stop(parser: argparse.ArgumentParser, *given: Any, **options: Any) -> Any:
        found, rest = original(parser, *given, **options)
        if rest:
            parser.error(f"unrecognized arguments: {shlex.join(rest)}")
        raise Parsed(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [path, *arguments])
        patch.setattr(argparse.ArgumentParser, "parse_known_args", stop)
        patch.setattr(argparse.ArgumentParser, "parse_known_intermixed_args", stop)
        with pytest.raises(Parsed) as stopped:
            runpy.run_path(str(ROOT / path), run_name="__main__")
    return stopped.value.args[0]


def published_runs() -> set[str]:
    """Return the identities of all runs in the committed tables."""
    return {
        row["identity"]
        for table in (ROOT / "results").glob("*/*/*/runs.csv")
        for row in csv.DictReader(table.open(encoding="utf-8"))
    }


def check_overrides(command: str, overrides: list[str], *, sweep: bool = False) -> None:
    """Compose every combination of the overrides; recipes must exist, and be of the kind that the command takes."""
    own = OWN_OPTIONS.get(command, {})
    rest = []
    for override in overrides:
        option, _, value = override.partition("=")
        if option in own:
            assert own[option](value), override
        else:
            rest.append(override)
    recipes, rest = split_recipes(rest)
    for recipe in recipes:
        assert (THEORY in recipe.profiles) == (command == "probe"), f"{recipe.name} is not for {command}.py"
    assert not recipes or sweep or command != "train", "a recipe is a sweep: -m"
    parsed = OverridesParser.create().parse_overrides(rest)
    values = [
        [f"{each.key_or_group}={value}" for value in each.sweep_string_iterator()]
        if sweep and each.is_sweep_override()
        else [each.input_line or ""]
        for each in parsed
    ]
    for combination in itertools.product(*values):
        compose_once(combination)


@cache
def compose_once(overrides: tuple[str, ...]) -> None:
    compose(list(overrides))


def check_make(arguments: list[str]) -> None:
    """Run ``make -n``, and check the variables and the scripts that the target calls."""
    makefile = (ROOT / "Makefile").read_text()
    for argument in arguments:
        name, assigned, _ = argument.partition("=")
        known = re.search(rf"^{name} \?=", makefile, re.MULTILINE)
        assert known or not assigned, f"{name}: no variable of the Makefile"
    check_make_once(tuple(arguments))


@cache
def check_make_once(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.replace("\\\n", " ").splitlines():
        if fnmatch.fnmatch(line, "*python scripts/*"):
            check_command(shlex.split(line))


def check_fairseq_train(arguments: list[str]) -> None:
    """Parse the arguments as ``fairseq-train`` does, in a process of its own, because it imports the plugin."""
    code = "from fairseq import options; options.parse_args_and_arch(options.get_training_parser())"
    done = run_warm(["-c", code, *arguments], cwd=ROOT, own_package=True)
    assert done.returncode == 0, done.stderr


def check_torchrun(arguments: list[str]) -> None:
    from torch.distributed.run import get_args_parser as torchrun_parser

    parsed = torchrun_parser().parse_args(arguments)
    check_script(parsed.training_script, parsed.training_script_args)


def check_wandb(arguments: list[str]) -> None:
    from wandb.cli.cli import cli

    assert arguments[0] in cli.commands, arguments


CHECKS = {
    "make": check_make,
    "fairseq-train": check_fairseq_train,
    "torchrun": check_torchrun,
    "wandb": check_wandb,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("sh", "python scripts/trian.py", "scripts/trian.py"),
        ("sh", "python scripts/train.py lr_mxa=1", "Could not override 'lr_mxa'"),
        ("sh", "python scripts/train.py model=pre_nl", "Could not find 'model/pre_nl'"),
        ("sh", "python scripts/train.py -m +recipe=fig3", "fig3 is not for train.py"),
        ("sh", "python scripts/train.py +recipe=fig2a", "a recipe is a sweep"),
        ("sh", "python scripts/collect.py +recipe=fig33", "recipe=fig33: no such recipe"),
        ("sh", "python scripts/verify.py --recipes fig2a", "2"),
        ("sh", "python scripts/show.py 00000000", "00000000"),
        ("sh", "python scripts/plan.py device=h1000", "device=h1000"),
        ("sh", "python scripts/prepare_data.py data=…", "data=…: a placeholder that is not in the table"),
        ("sh", "make reproduce-nothing", "reproduce-nothing"),
        ("sh", "make theory PROFILES=small", "PROFILES: no variable of the Makefile"),
        ("sh", "fairseq-train OWN --user-dir lnexp/plugin --arch lnexp_none", "invalid choice: 'lnexp_none'"),
        ("sh", "wandb lgoin", "lgoin"),
        ("sh", "rm -rf .", "a command of unknown kind"),
        ("python", "def f(:", "invalid syntax"),
        ("yaml", "defaults", "defaults"),
        ("layout", "lnexp/nothing/ what is not there", "no such file or folder"),
        ("ruby", "puts 1", "unknown kind 'ruby'"),
    ],
)
def test_mistakes_are_found(kind, text, message, own_text, monkeypatch):
    refusals = (AssertionError, UserError, HydraException, SystemExit, SyntaxError, pytest.fail.Exception)
    with pytest.raises(refusals, match=re.escape(message)):
        test_code_is_valid(Code(kind, text, "here"), own_text, monkeypatch)


def test_links_to_nothing_are_found(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("# One heading\n[there](#one-heading) and [not there](#another)\n")
    with pytest.raises(AssertionError, match="#another"):
        test_links_lead_to_files_and_headings(document)
