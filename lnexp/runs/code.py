"""Name the code that a run's numbers depend on, and say what of it has changed since the run was trained."""

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.extensions import CHOSEN, PACKAGE
from lnexp.git import ask_git
from lnexp.printable import first_few
from lnexp.runs.code_digest import digest_of, older_digest_of
from lnexp.runs.folder import RunFolder, status_of
from lnexp.runs.status import slurm_job
from lnexp.tasks import task_of
from lnexp.versions import version

#: Modules beside those that train which change no number: they plan, report, or keep folders.
REPORTING = {
    *(f"training/{name}.py" for name in ("claim", "journal", "longer", "memory", "run", "same_data", "signals")),
    *(f"training/{name}.py" for name in ("diagnostic", "evaluating", "forward_diagnostic", "layer_probe", "snapshots")),
    "training/update_series.py",
    "training/models/resuming.py",
    "plugin/stock_help.py",
    *(f"tasks/translation/{name}.py" for name in ("samples", "sentence_statistics")),
}
#: Folders of such modules.
REPORTING_FOLDERS = ("training/diagnostics/",)
#: The half of every task that plans.
PLANNING = "planning.py"

#: Packages that train a run.
PACKAGES = ("torch", "ve-fairseq")

#: The name of nothing, where a run need not take anything from a folder.
NOTHING = "none"

#: What trained a run whose ``environment.json`` is lost or says nothing of code.
UNRECORDED = "code that no record names"

#: How many names a message lists.
MOST_NAMED = 3


def digests(cfg: DictConfig) -> dict[str, str]:
    """Return the digests of the modules that decide a run's numbers: its placement, norm, optimizer, schedule and
    intervention, and all that every run of its task shares.

    Args:
        cfg: the run's config, resolved or not.

    Returns:
        By path below ``lnexp``, the digest of each module, see :mod:`lnexp.runs.code_digest`.
    """
    return {name: _digest(path) for name, path in _by_name(cfg).items()}


def _by_name(cfg: DictConfig) -> dict[str, Path]:
    """Return the modules that decide a run's numbers, by their paths below ``lnexp``."""
    named = {folder: OmegaConf.select(cfg, place, default=NOTHING) for folder, place in CHOSEN.items()}
    chosen = [_registering(folder, str(name)) for folder, name in named.items() if name != NOTHING]
    task = task_of(cfg)
    modules = sorted({*_shared(task.name, *task.builds_on), *(path for found in chosen for path in found)})
    return {path.relative_to(PACKAGE).as_posix(): path for path in modules}


def in_todays_form(recorded: Mapping[str, str]) -> dict[str, str]:
    """Return recorded digests, those of the older form that are of code which is here in today's form."""
    return {name: _in_todays_form(PACKAGE / name, digest) for name, digest in recorded.items()}


def _in_todays_form(path: Path, digest: str) -> str:
    return _digest(path) if path.is_file() and _is_digest_of(path, digest) else digest


def _is_digest_of(path: Path, digest: Any) -> bool:
    """Return whether a recorded digest, of today's form or of the older one, is that of a module's code."""
    return digest == _digest(path) or digest == _older_digest(path)


def changes(cfg: DictConfig, folder: RunFolder) -> str:
    """Describe which modules and packages changed since a run was trained; empty where none did, and where nothing is
    left of its training.

    Records without digests of modules, as older ones, are compared by their commit. Code that nothing records counts
    as other code.

    Raises:
        UserError: where the run's status or ``environment.json`` is malformed.
    """
    if not folder.is_done and folder.saved.newest() is None:
        return ""
    earlier = folder.environment
    recorded = earlier.get("code")
    if isinstance(recorded, dict):
        names = _changed_from(recorded, cfg)
    else:
        names = _changed_since(earlier.get("git") or {}, cfg)
    packages = earlier.get("packages") or {}
    others = [
        f"{package} {packages[package]}"
        for package in PACKAGES
        if packages.get(package) not in (None, version(package))
    ]
    return first_few([*names, *others], MOST_NAMED)


def may_train_again(cfg: DictConfig) -> bool:
    """Return whether runs that are done may be trained again, so that they seem whole before they have begun."""
    return bool(cfg.force or cfg.other_code == "retrain")


def is_trained_afresh(cfg: DictConfig, folder: RunFolder) -> bool:
    """Return whether what a run has so far is to be deleted first: by ``force``, or as the work of other code. A job
    that SLURM has queued again does so no second time.

    Raises:
        UserError: where the run's ``environment.json`` is malformed.
    """
    asked = cfg.force or (cfg.other_code == "retrain" and changes(cfg, folder))
    return bool(asked and not _is_of_this_job(folder))


def is_over(cfg: DictConfig, folder: RunFolder) -> bool:
    """Return whether a run is done, and stays as it is.

    Raises:
        UserError: where its ``environment.json`` is malformed, or its status; not read where it is trained afresh.
    """
    return not is_trained_afresh(cfg, folder) and folder.is_done


def _is_of_this_job(folder: RunFolder) -> bool:
    """Return whether SLURM has queued this job again after it began the run: it has then trained it afresh already."""
    is_again = int(os.environ.get("SLURM_RESTART_COUNT") or 0) > 0
    return is_again and status_of(folder.path).get("job") == slurm_job() is not None


def refuse_other_code(cfg: DictConfig, folder: RunFolder) -> None:
    """Refuse a run that other code has trained, finished or not, unless the user has chosen what becomes of it.

    Raises:
        UserError: for such a run, and where its ``environment.json`` is malformed.
    """
    if cfg.other_code == "refuse" and (changed := changes(cfg, folder)):
        raise UserError(f"{folder.name}: {_trained_by(folder, changed)}; {CHOICE}")


def refuse_all_of_other_code(runs: Iterable[tuple[DictConfig, RunFolder]]) -> str:
    """Refuse the runs of a sweep that other code has trained, in one line, before any work begins.

    A run whose files are malformed is left to the process that trains it.

    Returns:
        A line on such runs where the user has chosen what becomes of them; empty where there are none.

    Raises:
        UserError: for such runs, unless the user has chosen.
    """
    found = [(cfg, folder, changed) for cfg, folder in runs if (changed := _changes_if_readable(cfg, folder))]
    if not found:
        return ""
    (cfg, folder, changed), *others = found
    more = f", and {len(others)} more" if others else ""
    if cfg.other_code == "refuse":
        raise UserError(f"{folder.name}: {_trained_by(folder, changed)}{more}; {CHOICE}")
    return f"other_code={cfg.other_code}: {folder.name} {_trained_by(folder, changed)}{more}"


def other_code_warning(folder: RunFolder) -> str:
    """Return a warning of other code here than trained a run, for who uses its weights; empty where there is none.

    Nothing is said of a folder that is no run's, or whose files are malformed.
    """
    try:
        changed = changes(OmegaConf.create(folder.config), folder) if folder.config else ""
    except UserError:
        return ""
    trained = f"{folder.name} was trained by other code than is here ({changed})"
    return f"warning: {trained}; with this code its weights may be another model" if changed else ""


#: What a user can say about runs of other code.
CHOICE = "other_code=keep takes it as it is, other_code=retrain trains it afresh"


def _changes_if_readable(cfg: DictConfig, folder: RunFolder) -> str:
    try:
        return changes(cfg, folder)
    except UserError:
        return ""


def _trained_by(folder: RunFolder, changed: str) -> str:
    state = f"{folder.status['state']} already, but" if folder.is_done else "was trained so far"
    return f"{state} by {changed if changed == UNRECORDED else f'other code than is here ({changed})'}"


def _shared(*tasks: str) -> Iterator[Path]:
    """Yield the modules that every run of a task depends on; those of other tasks that it builds on are named, too."""
    yield PACKAGE / "fairseq_config.py"
    for folder in ("plugin", "training", *(f"tasks/{task}" for task in tasks)):
        for path in (PACKAGE / folder).rglob("*.py"):
            name = path.relative_to(PACKAGE).as_posix()
            elsewhere = name.startswith((*CHOSEN, *REPORTING_FOLDERS)) or name in REPORTING
            if not (elsewhere or path.name == PLANNING):
                yield path


def _registering(folder: str, name: str) -> set[Path]:
    """Return the modules of a folder that register a name, with those of the folder that they import.

    Where none does so in plain sight, as in a loop, that is every module of the folder.
    """
    modules = set((PACKAGE / folder).rglob("*.py"))
    found = {path for path in modules if name.removeprefix("lnexp_") in _registered(path)}
    return _with_imports(found, modules) if found else modules


@cache
def _registered(path: Path) -> set[str]:
    """Return the names that a module registers, without the prefix of plugins: ``register_…("lnexp_adam")``."""
    calls = (node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call) and node.args)
    names = ((getattr(call.func, "id", getattr(call.func, "attr", "")), call.args[0]) for call in calls)
    return {
        str(first.value).removeprefix("lnexp_")
        for function, first in names
        if function.startswith("register_") and isinstance(first, ast.Constant)
    }


def _with_imports(found: set[Path], modules: set[Path]) -> set[Path]:
    """Return modules of a folder with all that they import out of it, one by way of another."""
    by_name = {path.stem: path for path in modules}
    reached, waiting = set(found), list(found)
    while waiting:
        for name in _imported(waiting.pop()):
            path = by_name.get(name)
            if path and path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached


@cache
def _imported(path: Path) -> set[str]:
    """Return the last parts of the names of modules that a module imports, and of what it takes from them."""
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom):
            names |= {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name.rpartition(".")[2] for alias in node.names}
    return names


def _changed_from(recorded: Mapping[str, str], cfg: DictConfig) -> list[str]:
    """Return the modules whose recorded digests are not those of their code; one that only was, or only is, is one."""
    now = _by_name(cfg)
    same = {name for name, digest in recorded.items() if name in now and _is_digest_of(now[name], digest)}
    return sorted((recorded.keys() | now.keys()) - same)


@cache
def _digest(path: Path) -> str:
    return digest_of(_tree(path))


@cache
def _older_digest(path: Path) -> str:
    """Return the digest of the older form, which few runs have."""
    return older_digest_of(_tree(path))


def _tree(path: Path) -> ast.Module:
    """Return a module's syntax tree. Raises UserError where it cannot be read."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{path.relative_to(PACKAGE.parent)}: {error}") from error


def _changed_since(git: Mapping[str, Any], cfg: DictConfig) -> list[str]:
    """Return the modules that a run depends on which are not those of the commit that trained it.

    Where git does not know the commit, or the run was trained with changes to it, that is the commit itself.
    """
    commit = git.get("commit")
    if not isinstance(commit, str):
        return [UNRECORDED]
    changed = None if git.get("dirty") else _changed_files(commit)
    if changed is None:
        return [f"lnexp at commit {commit[:10]}{', with changes' if git.get('dirty') else ''}"]
    return sorted(changed & digests(cfg).keys())


@cache
def _changed_files(commit: str) -> frozenset[str] | None:
    """Return the files below ``lnexp`` that differ from a commit; None where git or the commit is missing."""
    listing = ask_git("diff", "--name-only", "--relative", "--end-of-options", commit, "--", ".", folder=PACKAGE)
    return None if listing is None else frozenset(listing.splitlines())
