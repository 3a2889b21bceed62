"""``docs/extending.md`` does what it says, word by word, on a copy of the project."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT, TINY, error_of
from warm_commands import run_warm

DOCUMENT = ROOT / "docs" / "extending.md"
PARTS = ("configs", "docs", "lnexp", "recipes", "scripts", "tests", "pyproject.toml")
#: A file's name, and the block of code behind it; or a block of commands.
STEP = re.compile(r"`([\w/.]+\.(?:py|yaml))`[^`]*```(?:python|yaml)\n(.*?)```|```sh\n(.*?)```", re.DOTALL)
#: Beside the commands of the document: runs of seconds, in the copy.
SMALL = [*TINY, "max_epoch=1"]


def section(title: str) -> list[tuple[str, str, str]]:
    """The steps under a heading: files with their contents, and commands."""
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    return STEP.findall(text)


@pytest.fixture
def copy(tmp_path) -> Path:
    for part in PARTS:
        source, target = ROOT / part, tmp_path / part
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return tmp_path


def write(copy: Path, title: str) -> None:
    """Write a section's files."""
    for file, content, _ in section(title):
        if file:
            assert not (copy / file).exists(), "the document adds files and changes none"
            (copy / file).write_text(content)


def follow(copy: Path, title: str, *overrides: str) -> list[str]:
    """Write a section's files and run its commands, with these words behind; what each command prints."""
    write(copy, title)
    said = []
    for _, _, commands in section(title):
        for command in commands.splitlines():
            done = run(copy, command, *overrides)
            assert done.returncode == 0, done.stderr
            said.append(done.stdout)
    return said


def run(copy: Path, command: str, *more: str) -> subprocess.CompletedProcess:
    """Run a command of the document, which says ``python``."""
    program, *arguments = command.split()
    assert program == "python"
    environment = os.environ | {"PYTHONPATH": str(copy), "WANDB_MODE": "offline", "OMP_NUM_THREADS": "1"}
    return run_warm([*arguments, *more], environment, cwd=copy, own_package=True)


def run_folders(copy: Path) -> list[str]:
    """The names of the runs that are finished."""
    paths = copy.glob("runs/*/*/status.json")
    return sorted(path.parent.name for path in paths if json.loads(path.read_text())["state"] == "finished")


@pytest.mark.slow
def test_a_placement_from_an_empty_file_to_a_verdict_table(copy):
    sizes = [word for word in TINY if not word.startswith("warmup_updates=")]  # which the recipe sets
    look, reproduced = follow(copy, "A placement", *sizes)
    assert "lnexp_res_post_norm 1-1" in look
    assert "res-post-norm-learns" in reproduced
    folder = copy / "results" / "local" / "small" / "toy" / "res_post_norm"
    (claim,) = json.loads((folder / "verdicts.json").read_text())["claims"]
    assert {arm["n"] for arm in claim["arms"].values()} == {3}
    assert (folder / "figure.png").is_file()


@pytest.mark.slow
def test_a_placement_with_an_option(copy):
    follow(copy, "A placement with an option", *SMALL)
    (name,) = run_folders(copy)
    assert name.startswith("ln_scaling-")
    (config,) = copy.glob("runs/*/*/config.yaml")
    assert "ln_scaling_power: 1" in config.read_text()
    refused = run(copy, "python scripts/train.py model=ln_scaling model.ln_scaling_powr=1", *SMALL)
    assert refused.returncode != 0
    assert "ln_scaling_powr" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [[], ["-m", "hydra/launcher=array"]])
def test_a_mistake_in_a_file_of_ones_own_is_one_line_that_names_it(copy, launcher):
    write(copy, "A placement with an option")
    path = copy / "lnexp" / "plugin" / "placements" / "ln_scaling.py"
    path.write_text(path.read_text().replace("block.sublayer(self.factor", "block.sublayer(self.fctor"))
    line = path.read_text()[: path.read_text().index("fctor")].count("\n") + 1
    said = f"lnexp/plugin/placements/ln_scaling.py, line {line}: AttributeError: 'LnScaling' object has no attribute"
    done = run(copy, "python scripts/train.py", *launcher, "model=ln_scaling", *SMALL)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == (2 if launcher else 1), done.stderr
    (log,) = copy.glob("runs/*/*/train.log")
    assert "Traceback" in log.read_text()
    path.write_text(path.read_text().replace("def connect(", "def connect"))
    done = run(copy, "python scripts/train.py model=pre_ln", *SMALL)
    assert "error: lnexp/plugin/placements/ln_scaling.py, line " in done.stderr
    assert "SyntaxError" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


TWICE = """from ..model import register_placement
from ..placement import Placement


@register_placement("calls_twice")
class CallsTwice(Placement):
    final_norm = False

    def connect(self, x, block):
        return x + block.sublayer(x) + block.sublayer(x)
"""
SILENT = """from ..torch_optimizer import TorchOptimizer


class Silent(TorchOptimizer):
    def torch_arguments(self):
        return {}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("plugin/placements/aa_mine.py", "plugin/placements/pre_ln.py", "pre_ln is registered already, by"),
        ("plugin/placements/zz_mine.py", "plugin/placements/pre_ln.py", "pre_ln is registered already, by"),
        ("plugin/norms/zz_mine.py", "plugin/norms/scale_norm.py", "scale_norm is registered already, by"),
        ("plugin/norms/zz_other.py", "plugin/norms/layer_norm.py", "plugin/norms/layer_norm.py"),
        ("training/interventions/zz_mine.py", "training/interventions/layer_rates.py", "is registered already, by"),
        ("plugin/placements/calls_twice.py", TWICE, "must not call the sublayer of a block twice"),
        ("plugin/optimizers/silent.py", SILENT, "Silent does not say whether it works element by element"),
    ],
)
def test_what_our_own_classes_refuse_names_the_file_that_they_refuse(copy, file, content, said):
    """Of two files with one name one would stand for both, and nobody would know which."""
    path, settings = copy / "lnexp" / file, copy / "configs" / "model"
    path.write_text((copy / "lnexp" / content).read_text() if content.endswith(".py") else content)
    if content == TWICE:
        config = (settings / "pre_ln.yaml").read_text().replace("pre_ln", "calls_twice")
        (settings / "calls_twice.yaml").write_text(config)
    model = "calls_twice" if content == TWICE else "pre_ln"
    done = run(copy, f"python scripts/train.py model={model}", *SMALL)
    line = error_of(done)
    assert said in line
    named = "plugin/placements/pre_ln.py" if file.endswith("aa_mine.py") else file  # the second of the two
    assert f"error: lnexp/{named}, line " in line or f"error: model: lnexp/{named}, line " in line


@pytest.mark.slow
def test_a_default_that_a_config_does_not_have_is_found(copy):
    write(copy, "A placement with an option")
    for file, content, _ in section("A placement with an option"):
        if file:  # the placement once more, under another name, with a config that says something else
            other = content.replace("ln_scaling", "ln_other")
            other = other.replace("0.5", "0.25") if file.endswith(".yaml") else other
            (copy / file.replace("ln_scaling", "ln_other")).write_text(other)
    words = "-q -rpf -p no:cacheprovider -p no:xdist -o addopts= tests/plugin/test_model.py"
    compared = run(copy, f"python -m pytest {words}", "-k", "stands_in_its_config and (ln_scaling or ln_other)")
    assert re.findall(r"^(PASSED|FAILED) .*\[(\w+)\]", compared.stdout, re.MULTILINE) == [
        ("PASSED", "ln_scaling"),
        ("FAILED", "ln_other"),
    ], compared.stdout


@pytest.mark.slow
def test_placements_by_depth_and_along_training_in_arrays(copy):
    assert not follow(copy, "A placement that changes during training")
    follow(copy, "Placements by depth", *SMALL)
    names = run_folders(copy)
    assert [name.partition("-")[0] for name in names] == ["post_last", "post_last", "pro_res", "pro_res"]


@pytest.mark.slow
def test_an_optimizer_and_a_schedule(copy):
    assert not follow(copy, "An optimizer")
    follow(copy, "A learning-rate schedule", *SMALL)
    (name,) = run_folders(copy)
    assert re.match(r"post_ln-nadam-.*-cosine-", name)


@pytest.mark.slow
def test_an_intervention(copy):
    follow(copy, "An intervention", *(word for word in SMALL if not word.startswith("lr_max=")))
    (name,) = run_folders(copy)
    assert re.match(r"post_ln-sgd-lr0.001-.*interventionsigns", name)


@pytest.mark.slow
def test_a_corpus_that_is_made(copy):
    follow(copy, "A corpus", *SMALL, "data_dir=data")
    (manifest,) = (copy / "data").glob("copying-*/manifest.json")
    assert json.loads(manifest.read_text())["pairs"] == {"train": 300, "valid": 300, "test": 300}
    assert len(run_folders(copy)) == 1


def test_a_placement_has_less_than_thirty_lines():
    (code,) = [content for file, content, _ in section("A placement") if file.endswith(".py")]
    assert len(code.splitlines()) < 30


@pytest.mark.parametrize("title", re.findall(r"^\| \[.*?\]\(#(.*?)\)", DOCUMENT.read_text(), re.MULTILINE))
def test_the_table_of_contents_leads_somewhere(title):
    headings = re.findall(r"^## (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    assert title in [heading.lower().replace(" ", "-") for heading in headings]


def test_every_block_of_code_is_a_step():
    text = DOCUMENT.read_text()
    assert len(re.findall(r"^```\w+$", text, re.MULTILINE)) == len(STEP.findall(text))
