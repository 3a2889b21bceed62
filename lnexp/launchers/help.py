"""Print the options of a run, with their values and defaults: ``scripts/train.py --help``."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

from omegaconf import DictConfig, OmegaConf

from lnexp.cli import EXTENDED
from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.options import Option, Table
from lnexp.options.common import SECTIONS
from lnexp.paths import CONFIG_DIR, files_of_group
from lnexp.plain import ABSENT
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.tasks import table_of_task, task_of
from lnexp.tasks.contract import Task
from lnexp.tasks.measures import measures_of

WIDTH = 80
OWN = "mine.yaml"
#: Launchers that come with Hydra's packages and have no file here.
OTHERS = {"basic": "One run after another; the default.", "joblib": "As many runs at once as there are cores."}
INTRODUCTION = """\
usage: python scripts/train.py [-m [-v]] [OPTION=VALUE …]

Trains one run; with -m a sweep over all combinations of OPTION=VALUE,VALUE,…
or over recipes, -m +recipe=NAME,NAME. A sweep prints a line for each run that
ends, with -v also one for each epoch. Defaults are in brackets."""
CONCLUSION = """\
Any other option of fairseq's is set as fairseq.GROUP.OPTION=VALUE, such as
fairseq.dataset.batch_size=64; fairseq-train --help lists them.
--cfg job prints the config instead of training; --hydra-help is about Hydra."""


def help_text(overrides: Sequence[str] = ()) -> str:
    """Return the help: every option by section, in lines of at most :data:`WIDTH` characters.

    Args:
        overrides: of the command line; where they name a task, its options are listed.
    """
    cfg = compose([override for override in overrides if override.startswith("task=")])
    task = task_of(cfg)
    sections = SECTIONS | {f"Options of the task {task.name}": tuple(task.options)}
    options = (_section(*section, cfg) for section in sections.items())
    of_one_file = _of_one_file(table_of_task(task.name))
    return "\n\n".join([INTRODUCTION, *options, of_one_file, _recipes(), _measures(task), _launchers(), CONCLUSION])


#: A line of a config file: an option, its value, and what a comment behind it says.
OWN_OPTION = re.compile(r"(?P<key>[a-z]\w*): (?P<value>[^#$]+?)(?:\s+# (?P<about>.*))?")


def _of_one_file(table: Table) -> str:
    """Return the section on the options that only some files of a group of :data:`EXTENDED` have."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for group in EXTENDED:
        for file in files_of_group(group):
            lines = (CONFIG_DIR / group / f"{file}.yaml").read_text(encoding="utf-8").splitlines()
            for known in filter(None, map(OWN_OPTION.fullmatch, lines)):
                name = f"{group}.{known['key']}"
                if known["key"] != "defaults" and not table.has(name):
                    found.setdefault((name, known["value"], known["about"] or ""), []).append(f"{group}={file}")
    entries = []
    for (name, value, about), files in found.items():
        entries += [_filled(f"{name} [{value}], with {' or '.join(files)}", indent=2)]
        entries += [_filled(about, indent=6)] if about else []
    return "\n".join(["Options of one placement, optimizer, schedule or intervention:", *entries])


def _recipes() -> str:
    """Return the section on recipes; one that cannot be read is named by ``scripts/verify.py``."""
    lines = [f"Recipes, +recipe=NAME,NAME or +recipe=PATH/{OWN}:"]
    for name in recipe_names():
        with suppress(UserError):
            lines.append(_filled(f"{name}: {load_recipe(name).heading}", indent=2))
    return "\n".join(lines)


def _measures(task: Task) -> str:
    """Return the section on what claims ask of runs, by name."""
    names = _filled(", ".join(measures_of(task)), indent=2)
    return f"Measures of claims, as best_{task.score.name}(ARM); collect.py --measures says more:\n{names}"


def _launchers() -> str:
    """Return the section on launchers, each with the first line of its file."""
    paths = sorted((CONFIG_DIR / "hydra" / "launcher").glob("*.yaml"))
    about = {path.stem: path.read_text(encoding="utf-8").splitlines()[0].strip("# :") for path in paths}
    lines = (_filled(f"{name}: {said}", indent=2) for name, said in sorted((about | OTHERS).items()))
    return "\n".join(["Launchers of a sweep, hydra/launcher=NAME:", *lines])


def _section(title: str, options: Iterable[Option], cfg: DictConfig) -> str:
    return "\n".join([f"{title}:", *(_entry(option, cfg) for option in options)])


def _entry(option: Option, cfg: DictConfig) -> str:
    """Return the lines on one option: its name, values and default, and below them what it is."""
    values = " | ".join(files_of_group(option.name)) or option.kind.words
    default = _default(option.name, cfg)
    return "\n".join([_filled(f"{option.name}: {values}{default}", indent=2), _filled(option.help, indent=6)])


def _filled(text: str, indent: int) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * 6, break_on_hyphens=False)


def _default(name: str, cfg: DictConfig) -> str:
    """Return an option's default in brackets; nothing where the default config does not have the option."""
    chosen = _chosen_files()
    value = chosen[name] if name in chosen else OmegaConf.select(cfg, name, default=ABSENT)
    if value is ABSENT or isinstance(value, DictConfig):
        return ""
    return f" [{'null' if value is None else str(value).lower() if isinstance(value, bool) else value}]"


@cache
def _chosen_files() -> dict[str, str]:
    """Return the file of each group that ``configs/train.yaml`` takes."""
    entries = OmegaConf.load(CONFIG_DIR / "train.yaml").defaults
    chosen = [entry for entry in entries if isinstance(entry, DictConfig)]
    return {str(group): str(file) for entry in chosen for group, file in entry.items()}
