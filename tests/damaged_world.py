"""A folder with a file of each kind that lnexp reads, and the commands that read it, run in this process."""

import contextlib
import importlib
import io
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import yaml
from helpers import ROOT, TINY_CORPUS

from lnexp.benchmarks.overhead import TINY_MODEL
from lnexp.configuration import check_and_resolve, compose
from lnexp.corpora.prepare import prepare
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.pages.verdict_pages import write_page
from lnexp.results.writing.write import write_results
from lnexp.runs.checksum import write_checksum
from lnexp.runs.code import digests
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder
from lnexp.runs.sweep import Sweep, SweepRun
from lnexp.tasks.translation.scores import scores_of_test

#: After so many seconds a command hangs.
PATIENCE = 120
#: What a terminal may be sent: anything but control characters other than line feeds and tabs.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SEEDS = (21, 22)
RATES = {"good": 0.002, "bad": 0.004}
#: A recipe of one's own, and one of those that come with the project.
MINE, THEIRS = "mine", "theory_lemma1"
#: Recipes that the first part of the page asks for, whether they were run or not.
OF_THE_FRONT = ("fig2a", "fig4ab")
RECIPE = {
    "title": "Two rates",
    "figure": "Fig. X",
    "source": "somewhere",
    "reading": "decoupled",
    "settings": ["model=pre_ln"],
    "profiles": {"small": {"data": "toy", "settings": ["max_epoch=2"]}},
    "first_seed": SEEDS[0],
    "n_seeds": len(SEEDS),
    "success": {"measure": "best_bleu", "fraction": 0.5},
    "arms": {name: {"label": name.capitalize(), "overrides": [f"lr_max={rate}"]} for name, rate in RATES.items()},
    "claims": [
        {
            "id": "bad-is-worse",
            "source": "nobody says so",
            "paper": {"good": 34.5},
            "scope": "relative",
            "holds_if": "best_bleu(bad) < 0.5 * best_bleu(good)",
            "why": "because",
            "registered": "before",
            "since": "1234abc",
        }
    ],
}


@dataclass
class Ended:
    """How a command ended: its exit status, what it printed, and what it should not have done."""

    status: int
    out: str
    err: str
    faults: list[str] = field(default_factory=list)


class HangError(BaseException):
    """A command takes too long; no ``except Exception`` catches it."""


class Guard:
    """Notes what is written outside of a folder, and which programs are started, while it is armed."""

    def __init__(self, root: Path):
        self.root, self.seen, self.armed = os.path.realpath(root), [], False
        sys.addaudithook(self._hook)

    @contextlib.contextmanager
    def watching(self) -> Iterator[list[str]]:
        self.seen, self.armed = [], True
        try:
            yield self.seen
        finally:
            self.armed = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event == "open":
            path, _, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self._note(event, path)
        elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate"):
            self._note(event, *arguments[: 2 if event in ("os.rename", "os.link") else 1])
        elif event in ("os.system", "os.exec", "os.posix_spawn", "socket.connect"):
            self.seen.append(f"{event} {arguments[0]}")
        elif event == "subprocess.Popen" and os.path.basename(os.fsdecode(arguments[0])) not in ("git", "fc-list"):
            self.seen.append(f"{event} {arguments[1]}")

    def _note(self, event: str, *paths: Any) -> None:
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                where = os.path.realpath(os.fsdecode(path))
                if not where.startswith((self.root, "/dev/")):
                    self.seen.append(f"{event} {where}")


@dataclass
class World:
    """The folder.

    Attributes:
        root: its path, where commands are run.
        files: the files that may be damaged, by kind.
        guard: watches over what commands do.
    """

    root: Path
    files: dict[str, Path]
    guard: Guard
    _kept: dict[Path, Path] = field(default_factory=dict)

    def keep(self, path: Path, aside: Path) -> None:
        """Copy a file, or a folder that holds some, to be put back after every damage."""
        self._kept[path] = aside / str(len(self._kept))
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, self._kept[path])

    def run(self, command: str, *arguments: str) -> Ended:
        """Run a command of ``scripts/`` in this process."""
        main: Callable[[], None] = importlib.import_module(COMMANDS[command.split()[0]]).main
        out, err, faults = io.StringIO(), io.StringIO(), []
        status = 0
        old, sys.argv = sys.argv, [f"scripts/{command.split()[0]}.py", *arguments]
        before = signal.signal(signal.SIGALRM, _hang)
        signal.alarm(PATIENCE)
        try:
            with (
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(self.root),
                self.guard.watching() as seen, mock.patch.dict(os.environ),
            ):  # fmt: skip
                try:
                    main()
                except SystemExit as end:
                    status = end.code if isinstance(end.code, int) else int(end.code is not None)
                except HangError:
                    faults.append("hangs")
                except BaseException as error:
                    faults.append(f"traceback: {type(error).__name__}: {str(error)[:200]}")
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            sys.argv = old
        ended = Ended(status, out.getvalue(), err.getvalue(), faults)
        ended.faults += [f"touches what is outside: {what}" for what in seen]
        if raw := CONTROL.search(ended.out + ended.err.replace("\r", "")):
            ended.faults.append(f"prints a raw {raw[0]!r}")
        if not faults and status not in (0, 1, 2):
            ended.faults.append(f"exit status {status}")
        if not faults and status and not ended.err.startswith("error: "):
            ended.faults.append(f"exit status {status} without a reason: {ended.err[:200]!r}")
        return ended

    @contextlib.contextmanager
    def damaged(self, kind: str, damage: Callable[[Path], None]) -> Iterator[None]:
        """Damage a file for the block; then put its folder back, and remove what commands have written."""
        path = self.files[kind]
        folder = next(parent for parent in path.parents if parent in self._kept or parent == self.root)
        try:
            damage(path)
            yield
        finally:
            for name in ("out", "report.html"):
                _remove(self.root / name)
            if folder == self.root:
                _remove(path)
                shutil.copy2(self._kept[path], path)
            else:
                _remove(folder)
                shutil.copytree(self._kept[folder], folder)

    def others(self, kind: str) -> dict[str, int]:
        """Return the hash of every file that a damage of this kind does not concern."""
        mine = next(parent for parent in self.files[kind].parents if parent in self._kept or parent == self.root)
        return {
            str(path.relative_to(self.root)): hash(path.read_bytes())
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path != self.files[kind] and (mine == self.root or mine not in path.parents)
            and not set(path.relative_to(self.root).parts) & {"out", "report.html", ".locks", "verdicts.md"}
        }  # fmt: skip


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _hang(*_: object) -> None:
    raise HangError


#: Where the main functions of commands are.
COMMANDS = {
    "show": "lnexp.commands.show",
    "status": "lnexp.commands.status",
    "collect": "lnexp.commands.collect",
    "bootstrap": "lnexp.commands.bootstrap",
    "report": "lnexp.commands.report",
    "translate": "lnexp.commands.translate",
    "wandb_sync": "lnexp.commands.wandb_sync",
    "verify": "lnexp.commands.verify",
    "judge": "lnexp.commands.judge",
    "figures": "lnexp.commands.figures",
    "power": "lnexp.commands.power",
    "publish": "lnexp.commands.publish",
    "prepare_data": "lnexp.commands.prepare_data",
    "plan": "lnexp.commands.plan",
    "train": "lnexp.commands.train",
}

#: What the runs are trained with, beside their recipe's own settings.
OPTIONS = (*TINY_MODEL[:-1], TINY_CORPUS, "tracker=none", "runs_dir=runs", "data_dir=data")
OF_RECIPE = (f"+recipe={MINE}.yaml", *OPTIONS)
RUN = f"runs/{MINE}/run"


#: The kinds of file.
KINDS = (
    "metrics.jsonl", "status.json", "environment.json", "config.yaml", "checkpoint", "checksum", "hypotheses", "log",
    "hidden file", "sweep", "recipe", "copy of the recipe", "verdicts.json", "provenance.json", "runs.csv",
    "epochs.csv", "probes.csv", "table.md",
    "measurements.csv", "manifest", "dictionary", "index",
)  # fmt: skip


def build(root: Path, aside: Path, guard: Guard) -> World:
    """Write the folder: four finished runs of a recipe of one's own, their corpus, and the results of two recipes."""
    importlib.import_module("lnexp.tasks.translation.translator")  # which makes folders when it is imported
    (root / "recipes").mkdir(parents=True)
    for name in (THEIRS, *OF_THE_FRONT):
        shutil.copy(ROOT / "recipes" / f"{name}.yaml", root / "recipes")
    shutil.copytree(ROOT / "results/theory/gaussian" / THEIRS, root / "results/theory/gaussian" / THEIRS)
    (root / f"{MINE}.yaml").write_text(yaml.safe_dump(RECIPE, sort_keys=False))
    with contextlib.chdir(root):
        recipe = load_recipe(f"{MINE}.yaml")
        jobs = [Job(recipe, "small", arm, seed) for seed in SEEDS for arm in recipe.arms.values()]
        folders = [finished_run(job) for job in jobs]
        members = [SweepRun(one.identity, one.name, job.seed, 2) for job, one in zip(jobs, folders, strict=True)]
        Sweep(MINE, members).save("runs")
        write_results(recipe, collect(recipe, list(OPTIONS)), "make x", Path("results"))
        write_page(Path("results"))
    first, results = root / folders[0].path, root / "results/small/toy" / MINE
    (corpus,) = (root / "data").glob("toy-*")
    (sweep,) = (root / "runs/.sweeps").glob("*.json")
    files = {
        **{name: first / name for name in ("metrics.jsonl", "status.json", "environment.json", "config.yaml")},
        "checkpoint": first / "checkpoints/checkpoint2.pt",
        "checksum": first / "checkpoints/checkpoint2.pt.sha256",
        "hypotheses": first / "hypotheses/test.txt",
        "log": first / "train.log",
        "hidden file": first / "checkpoints/.checkpoint1.pt.kept",
        "sweep": sweep,
        "recipe": root / f"{MINE}.yaml",
        "copy of the recipe": results / "recipe.yaml",
        **{name: results / name for name in ("verdicts.json", "provenance.json", "table.md")},
        **{name: results / name for name in ("runs.csv", "epochs.csv", "probes.csv")},
        "measurements.csv": root / "results/theory/gaussian" / THEIRS / "measurements.csv",
        "manifest": corpus / "manifest.json",
        "dictionary": corpus / "bin/dict.de.txt",
        "index": corpus / "bin/test.de-en.de.idx",
    }
    world = World(root, files, guard)
    for path in (first, results, corpus, sweep, root / f"{MINE}.yaml", files["measurements.csv"].parent):
        world.keep(path, aside)
    return world


def finished_run(job: Job) -> RunFolder:
    """Write the folder of a run that was never trained, and its corpus where that is missing."""
    cfg = check_and_resolve(compose([*OPTIONS, *job.recipe.profiles["small"].overrides, *job.overrides]))
    corpus, folder = prepare(cfg.data, cfg.data_dir), RunFolder.of(cfg)
    folder.checkpoints.mkdir(parents=True)
    folder.write_config(cfg)
    folder.write_environment(environment("cpu", corpus.manifest) | {"code": digests(cfg)})
    translations = [line.replace("a", "b") if job.arm.name == "bad" else line for line in corpus.lines("test", "en")]
    folder.write_lines("hypotheses/test.txt", translations)
    for epoch in (1, 2):
        measured = {"valid_loss": 3.0 / epoch, "valid_nll": 2.0 / epoch, "seconds": 1.5}
        measured["lr"] = cfg.lr_max * min(10 * epoch / cfg.warmup_updates, 1)  # before the decay begins
        more = {
            "train_loss": 2.0,
            "grad_norm": 1.0,
            "tokens_per_second": 9.0,
            "time": f"2026-01-01T00:0{epoch}:00+00:00",
        }
        bleu = {"valid_bleu": 10.0 * epoch if job.arm.name == "good" else 1.0, "n_sentences": 20, "beam": 1}
        folder.append({"kind": "epoch", "epoch": epoch, "update": 10 * epoch, **measured, **more, **bleu})
    gradient = {"side": "decoder", "layer": 1, "parameter": "W2", "grad_norm": 1.0, "mean_grad_norm": 2.0}
    folder.append({"kind": "probe", "epoch": 2, "update": 20, **gradient})
    folder.append({"kind": "end", "checkpoint_epoch": 2, **scores_of_test(translations, corpus, cfg)})
    state = {
        "cfg": {"model": {"_name": cfg.model._name}},
        "model": {},
        "extra_state": {"train_iterator": {"epoch": 3}, "identity": folder.identity},
    }
    torch.save(state, folder.saved.of_epoch(2))
    write_checksum(folder.saved.of_epoch(2))
    for path in (folder.log, folder.checkpoints / ".checkpoint1.pt.kept"):
        path.write_text("a line\n")
    folder.set_status("finished", updates=20)
    return folder


def commands(world: World) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return, by the kind of file, the commands that read it, each with its arguments."""
    run = str(world.files["status.json"].parent.relative_to(world.root))
    bootstrap = (f"{MINE}.yaml", *RATES, *OPTIONS)
    of_run = {
        "show": (run,),
        "status": ("--all",),
        "collect": (*OF_RECIPE, "--results", "out"),
        "collect a set": (f"runs/{MINE}", "--results", "out"),
        "bootstrap": bootstrap,
        "report": ("results",),
        "translate": (run, "x"),
        "wandb_sync": ("--dry-run",),
        "train": ("model=pre_ln", "max_epoch=2", "lr_max=0.002", f"seed={SEEDS[0]}", *OPTIONS),
    }
    of_results = {
        "verify": (),
        "verify all": ("--all",),
        "verify json": ("--json",),
        "judge": (),
        "figures": (),
        "power": (f"results/small/toy/{MINE}",),
        "report": ("results",),
        "collect": (*OF_RECIPE, "--results", "out", "--with-published"),
    }
    of_recipe = {"collect": of_run["collect"], "verify": ("--recipe", f"{MINE}.yaml"), "bootstrap": bootstrap}
    of_corpus = {"prepare_data": OPTIONS, "translate": of_run["translate"], "bootstrap": bootstrap}
    groups = {
        "sweep": {"status": ("--all",), "collect a set": ("--sweep=last", "--results", "out")},
        "recipe": of_recipe,
        **dict.fromkeys(("manifest", "dictionary", "index"), of_corpus),
        **dict.fromkeys(("copy of the recipe", "verdicts.json", "provenance.json", "table.md"), of_results),
        **dict.fromkeys(("runs.csv", "epochs.csv", "probes.csv", "measurements.csv"), of_results),
    }
    return {kind: groups.get(kind, of_run) for kind in world.files}
