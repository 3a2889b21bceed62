"""Make a recipe of any runs: those with one setting are an arm, and what differs between arms is their name."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.figures.curves import curves
from lnexp.figures.panels import Drawing
from lnexp.paths import CONFIG_DIR
from lnexp.recipes.jobs import Job
from lnexp.recipes.recipe import Arm, Recipe, Setting
from lnexp.results.evidence.collect import read_run
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.tables.run_tables import epochs_table
from lnexp.runs.folder import RunFolder, find_folders, is_named, misnamed
from lnexp.runs.identity import short_name
from lnexp.runs.sweep import sweep_by_title
from lnexp.tasks import table_of, task_of

#: What tells runs of one arm apart.
OF_A_RUN = ("seed", "order_seed")
#: Options of a run that tables show of it.
NEEDED = (
    "seed", "profile", "threads", "lr_max", "warmup_updates", "data.name", "model._name", "optimizer._name",
    "lr_schedule._name",
)  # fmt: skip
#: What decides no number and tells arms apart all the same: the corpus' name, which stands for all of its settings.
CORPUS = "data.name"


def folders_of(places: Sequence[str], runs_dir: Path, here: Path = Path()) -> list[Path]:
    """Return the run folders at some places, each once: run folders, folders that have some, or patterns of these.

    Args:
        places: as ``runs/adhoc`` or ``runs/*/pre_ln-*``.
        runs_dir: where a pattern or path is looked for that has no runs relative to ``here``.
        here: the folder that places are relative to.

    Raises:
        UserError: for a place without runs.
    """
    found: dict[Path, None] = {}
    for place in places:
        there = _runs_at(here, place) or _runs_at(runs_dir, place)
        if not there:
            first = "here" if here == Path() else f"in {here}"
            raise UserError(f"{place}: no runs there, neither {first} nor in {runs_dir}")
        found |= dict.fromkeys(path.resolve() for path in there)
    return list(found)


def folders_of_sweep(title: str, runs_dir: Path) -> tuple[str, list[Path]]:
    """Return the whole title of a sweep and the folders of its runs, as far as there are some.

    Args:
        title: a part of it, or ``last``, see :func:`lnexp.runs.sweep.sweep_by_title`.
        runs_dir: where run folders lie.
    """
    folders, sweep = find_folders(runs_dir), sweep_by_title(title, runs_dir)
    return sweep.title, [folders[run.identity] for run in sweep.members if run.identity in folders]


def _runs_at(root: Path, place: str) -> list[Path]:
    return [run for path in _matching(root, place) for run in _runs_in(path)]


def _matching(root: Path, place: str) -> list[Path]:
    path = root / place
    if path.is_dir():
        return [path]
    return sorted(root.glob(place)) if not Path(place).is_absolute() else sorted(Path("/").glob(place.lstrip("/")))


def _runs_in(path: Path) -> list[Path]:
    """Return a folder that is a run's, or the runs in it, at any depth."""
    return [path] if (path / "config.yaml").exists() else sorted(run.parent for run in path.rglob("config.yaml"))


def results_of(paths: Sequence[Path], name: str) -> tuple[list[RunResult], list[str]]:
    """Return runs as those of a recipe whose arms are made of what differs, arm by arm.

    Args:
        paths: their folders.
        name: of the recipe.

    Returns:
        The runs, and why others were left out: those whose name, config or seed cannot be read.

    Raises:
        UserError: where no run is left, or the runs are of several tasks, which have different scores.
    """
    configs: dict[Path, dict[str, Any]] = {}
    problems = []
    for path in paths:
        if not is_named(path):
            problems.append(misnamed(path))
            continue
        try:
            configs[path] = RunFolder(path).config_with(NEEDED)
        except UserError as error:
            problems.append(str(error))
    if not configs:
        raise UserError(f"{name}: no run that can be read{''.join(f'; {problem}' for problem in problems)}")
    tasks = sorted({task_of(config).name for config in configs.values()})
    if len(tasks) > 1:
        raise UserError(f"{name}: runs of several tasks, {' and '.join(tasks)}; collect them one by one")
    settings = differing(list(configs.values()))
    labels = dict(zip(configs, _labels(settings), strict=True))
    overrides = {labels[path]: _overrides(setting) for path, setting in zip(configs, settings, strict=True)}
    recipe = _recipe(name, tasks[0], dict(sorted(overrides.items())), next(iter(configs.values())))
    arms = {arm.label: arm for arm in recipe.arms.values()}
    return [_result(recipe, arms[labels[path]], path, config) for path, config in configs.items()], problems


def curves_of(runs: list[RunResult]) -> Drawing | None:
    """Return the curves of the runs that are over, of :func:`results_of`; None where these have no epoch."""
    over = [run for run in runs if run.counts and run.epochs]
    if not over:
        return None
    corpora = sorted({str(run.cfg.data.name) for run in runs})
    return curves(runs[0].job.recipe, epochs_table(over), f"data {', '.join(corpora)}")


def differing(configs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each config of runs, the options in which not all of them agree, seeds left out.

    An option that some configs do not have, as that of one placement, counts where those that have it disagree. One
    that differs because the files of its group do, as ``optimizer.betas`` with the optimizers, does not count.
    """
    flat = [_deciding(config) for config in configs]
    values: dict[str, set[str]] = {}
    for options in flat:
        for key, value in options.items():
            values.setdefault(key, set()).add(repr(value))
    keys = [key for key, found in values.items() if len(found) > 1]
    if CORPUS in keys:
        keys = [key for key in keys if key == CORPUS or not _is_of_the_corpus(key, flat)]
    own = [key for key in keys if not all(_is_of_the_file(key, each[key], each) for each in flat if key in each)]
    return [{key: options[key] for key in own if key in options} for options in flat]


def _is_of_the_corpus(key: str, flat: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether an option of corpora differs only because they do."""
    values = {(options.get(CORPUS), repr(options.get(key))) for options in flat}
    return key.startswith("data.") and len(values) == len({corpus for corpus, _ in values})


def _is_of_the_file(key: str, value: Any, options: Mapping[str, Any]) -> bool:
    """Return whether an option has the value that the file of its group states, as ``optimizer.betas`` of Adam."""
    group, _, name = key.partition(".")
    path = CONFIG_DIR / group / f"{short_name(str(options.get(_names_file_of(group))))}.yaml"
    if key == _names_file_of(group) or not path.is_file():
        return False
    stated: Any = OmegaConf.to_container(OmegaConf.load(path))
    return name in stated and stated[name] == value


def _deciding(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a config that decide its numbers, each once and by its own name, without fairseq's."""
    table = table_of(config)
    aliases = set(table.places(lambda option: True)) - {option.name for option in table.rows}
    return {
        key: value
        for key, value in _flattened(config)
        if (key == CORPUS or table.decides(key)) and not (key in aliases or key in OF_A_RUN)
    }


def _flattened(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the options of a config with their dotted names, without the copies that fairseq's config has of them."""
    for key, value in settings.items():
        if isinstance(value, Mapping) and key != "fairseq":
            yield from _flattened(value, f"{before}{key}.")
        elif not isinstance(value, Mapping):
            yield f"{before}{key}", value


def _names_file_of(group: str) -> str:
    """Return the option that names a group's file: ``_name``, and ``kind`` of norms, which fairseq does not know."""
    return f"{group}.{'kind' if group == 'norm' else '_name'}"


#: What a label says first: the files of groups, the corpus, the rate and the warm-up.
FIRST = (
    *map(_names_file_of, ("model", "norm", "optimizer", "lr_schedule")), CORPUS, "lr_max", "warmup_updates",
)  # fmt: skip


def _labels(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the settings of each run as one would type them, the files of groups by their names.

    What follows from such a file, and what is not set, is left out where that makes no two settings one.
    """
    whole = [_label(one) for one in settings]
    said = [{key: value for key, value in one.items() if not _goes_without_saying(key, one)} for one in settings]
    short = list(map(_label, said))
    return short if len(set(short)) == len(set(whole)) else whole


def _goes_without_saying(key: str, settings: Mapping[str, Any]) -> bool:
    return settings[key] is None or _is_of_the_file(key, settings[key], settings)


def _label(settings: Mapping[str, Any]) -> str:
    order = sorted(settings, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    return " ".join(_as_typed(key, settings[key]) for key in order) or "all runs"


def _as_typed(key: str, value: Any) -> str:
    """Return an option as one would type it: ``norm=rms_norm``, ``lr_max=0.002``."""
    group = key.partition(".")[0]
    return f"{group if key == _names_file_of(group) else key}={short_name(_text(value))}"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _overrides(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the settings of an arm one by one, by which its line gets its colour and dash."""
    return tuple(_as_typed(key, value) for key, value in settings.items())


def _recipe(name: str, task: str, overrides: Mapping[str, tuple[str, ...]], config: Mapping[str, Any]) -> Recipe:
    arms = {
        f"arm{number}": Arm(f"arm{number}", label, said) for number, (label, said) in enumerate(overrides.items(), 1)
    }
    setting = Setting(str(config["data"]["name"]))
    return Recipe(
        name=name,
        title="what differs between the runs",
        figure=name,
        source="",
        reading="",
        settings=(),
        profiles={str(config["profile"]): setting},
        first_seed=0,
        n_seeds=1,
        arms=arms,
        claims=(),
        task=task,
    )


def _result(recipe: Recipe, arm: Arm, path: Path, config: dict[str, Any]) -> RunResult:
    job = Job(recipe, str(config["profile"]), arm, config["seed"])
    return read_run(job, OmegaConf.create(config), RunFolder(path).identity, path)
