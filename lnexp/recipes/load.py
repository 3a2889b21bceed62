"""Read recipes: ``recipes/<name>.yaml``, or a file anywhere else."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict, get_type_hints

import yaml

from lnexp.errors import UserError, near_names
from lnexp.files import read_regular, write_whole
from lnexp.options import key_of
from lnexp.paths import ADHOC, RECIPES_DIR
from lnexp.plain_yaml import load_yaml
from lnexp.printable import one_line
from lnexp.recipes.grid import Grid
from lnexp.recipes.recipe import MAIN_FIGURE, Arm, Recipe, Setting
from lnexp.recipes.refused import refuse_own_options, refuse_resolvers
from lnexp.recipes.variant import Variant
from lnexp.schema import Count, Positive, check_keys, checked, plain_content, required_fields
from lnexp.tasks import table_of_task

#: The copy of a recipe of one's own in a folder of its results.
COPY = "recipe.yaml"
NAME = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)
#: Names of profiles, arms and axes, some of which are folders' and words of claims.
NAME_OF_PART = re.compile(r"\w[\w.-]*", re.ASCII)
#: Names that are text whatever Hydra takes others for.
SURE_TEXT = re.compile(r"(?!(null|true|false|nan|inf)\Z)[A-Za-z]\w*", re.ASCII | re.IGNORECASE)
#: Attributes of a recipe that are no keys of its file.
NO_KEYS = ("name", "file")
#: Keys of a file that stand for its arms.
AXES = ("axes", "rows")
#: Keys that every file has, its arms aside, see :data:`AXES`.
NEEDED = required_fields(Recipe) - {*NO_KEYS, "arms"}
#: Keys of a picture of a measurement, of which x and y are needed.
PLOT = (
    "x",
    "y",
    "colour",
    *(f"{axis}_{key}" for axis in ("x", "y", "colour") for key in ("label", "scale")),
    "y_range",
)
#: The most arms, and the most seeds, that a recipe asks for.
MOST = 10_000


class ProfilePart(TypedDict):
    """What a file says of a profile, see :class:`lnexp.recipes.recipe.Setting`."""

    data: str
    corpus: NotRequired[list[str]]
    settings: NotRequired[list[str]]
    first_seed: NotRequired[Count | None]
    n_seeds: NotRequired[Positive | None]
    known: NotRequired[str]
    doubt: NotRequired[str]


class ArmPart(TypedDict):
    """What a file says of an arm, or of a value of an axis, see :class:`lnexp.recipes.recipe.Arm`."""

    label: str
    overrides: list[str]
    row: NotRequired[str]


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(path.stem for path in RECIPES_DIR.glob("*.yaml"))


def load_recipe(reference: str, name: str | None = None) -> Recipe:
    """Read a recipe.

    Args:
        reference: the name of one in ``recipes/``, or the path of a file, which ends in ``.yaml`` and gives the recipe
            its name.
        name: of the recipe, where it is not the file's.

    Raises:
        UserError: for an unknown name, a file that is not a recipe, or one that has the name of another recipe.
    """
    path = _path_of(reference, Path())
    own = path.parent.resolve() != RECIPES_DIR.resolve()
    name = name or path.stem
    try:
        if own:
            _check_own_name(name)
        content = _read(path)
        refuse_resolvers(content)
        check_keys(content, NEEDED, [*(key for key in get_type_hints(Recipe) if key not in NO_KEYS), *AXES], "it")
        parts: dict[str, Any] = {
            "profiles": {
                profile: _setting(**said) for profile, said in _part(content, "profiles", ProfilePart).items()
            },
            "arms": _arms(content),
        }
        hints = get_type_hints(Recipe)
        said: dict[str, Any] = {
            key: checked(hints[key], value, key) if key in hints else value for key, value in content.items()
        }
        recipe = Recipe(name=name, file=path.absolute() if own else None, **parts, **said)
        _check_arms_and_seeds(recipe)
        _check_plots(recipe)
        refuse_own_options(_overrides_of(recipe))
        if recipe.sweep:
            Grid(recipe)
        return recipe
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        why = one_line(str(error))  # YAML's are of several lines
        raise UserError(f"{path}: not a recipe ({type(error).__name__}: {why})") from error


def _check_arms_and_seeds(recipe: Recipe) -> None:
    """Raise ValueError for a recipe without arms or seeds, for too many seeds, and for arms whose names are no text."""
    if not recipe.arms or "" in recipe.arms:
        raise ValueError("arms: there must be one at least, each with a name")
    if numbers := [arm for arm in recipe.arms if not _is_text(arm)]:
        raise ValueError(f"arms: {numbers[0]}: the name of an arm must be text, as x{numbers[0]}")
    if recipe.first_seed < 0:
        raise ValueError("first_seed: must be at least 0")
    if recipe.n_seeds < 1:
        raise ValueError("n_seeds: must be at least 1")
    if recipe.n_seeds > MOST or any(len(recipe.planned_at(profile)) > MOST for profile in recipe.profiles):
        raise ValueError(f"n_seeds: must be at most {MOST:,}")


def _check_plots(recipe: Recipe) -> None:
    """Raise ValueError for pictures of a measurement without x or y, and for names that can be no file's."""
    for name in recipe.more_plots:
        if name == MAIN_FIGURE:
            raise ValueError(f"more_plots: {name}: is the name of the first plot; take another")
        if not NAME_OF_PART.fullmatch(name):
            raise ValueError(f"more_plots: {name}: a name has letters, digits, _, - and . alone")
    if recipe.measurement:
        for picture, plot in {"plot": recipe.plot, **recipe.more_plots}.items():
            check_keys(plot, ("x", "y"), PLOT, picture)


def _is_text(name: str) -> bool:
    """Return whether Hydra reads a name as text, and not as a number, a truth value or nothing."""
    if SURE_TEXT.fullmatch(name):
        return True
    from hydra.core.override_parser.overrides_parser import OverridesParser  # here, for few names need it

    return isinstance(OverridesParser.create().parse_override(f"arm={name}").value(), str)


def _overrides_of(recipe: Recipe) -> Iterator[str]:
    """Yield every override of a recipe but the places of its corpus, which lie beside its file."""
    yield from recipe.settings
    for arm in recipe.arms.values():
        yield from arm.overrides
    for setting in recipe.profiles.values():
        yield f"data={setting.data}"
        yield from setting.overrides
        yield from (option for option in setting.corpus if not table_of_task(recipe.task).locates(key_of(option)))


def recipe_of_results(folder: Path, name: str) -> Recipe:
    """Return the recipe of a folder of results: the copy that lies there, or one of ``recipes/``. Raises UserError."""
    if not NAME.fullmatch(name):
        raise UserError(f"{folder}: {name!r} is no recipe's name")
    copy = folder / COPY
    return load_recipe(str(copy), name) if copy.is_file() else load_recipe(name)


def write_copy(recipe: Recipe, folder: Path) -> None:
    """Write a recipe that is not one of ``recipes/`` into the folder of its results, whole in one file.

    What it takes from other files is in the copy, but for the comments.
    """
    if recipe.file:
        text = yaml.safe_dump(_read(recipe.file), sort_keys=False, allow_unicode=True, width=120)
        write_whole(folder / COPY, text)


def _path_of(reference: str, beside: Path) -> Path:
    """Return the path of a recipe, by its name, or by a path that is relative to a folder.

    Raises:
        UserError: where there is no such file.
    """
    if reference.endswith((".yaml", ".yml")):
        if not (path := beside / reference).is_file():
            raise UserError(f"recipe={reference}: no such file")
    elif not (path := RECIPES_DIR / f"{reference}.yaml").is_file():
        raise UserError(f"recipe={reference}: no such recipe; {near_names(reference, recipe_names())}")
    return path


def _check_own_name(name: str) -> None:
    """Raise ValueError for a name that cannot be a recipe's of one's own."""
    if not NAME.fullmatch(name):
        raise ValueError("its name becomes a folder's: take letters, digits, _ and -")
    if name in (*recipe_names(), ADHOC):
        raise ValueError(f"{name} is taken: rename the file")


def _setting(corpus: Sequence[str] = (), settings: Sequence[str] = (), **said: Any) -> Setting:
    """Return what a file says of a profile. Raises ValueError for an option of the corpus that is none."""
    check_keys(said, [], get_type_hints(ProfilePart), "profiles")
    for option in corpus:
        if key_of(option).split(".")[0] not in ("data", "subword"):
            raise ValueError(f"corpus: {option}: no option of a corpus (data.…, subword=…); it belongs to settings")
    return Setting(overrides=tuple(settings), corpus=tuple(corpus), **said)


@lru_cache(maxsize=128)
def _parsed(text: str) -> Any:
    """Return what a file says, by its text. Nobody changes it: ``plain_content`` makes new containers."""
    return load_yaml(text)


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a file, with what it takes from other recipes by their names."""
    content = checked(dict[str, Any], plain_content(_parsed(read_regular(path))), "it")
    if "variant" in content:
        variant = checked(Variant, content.pop("variant"), "variant")
        content = {**variant.applied(_read(_path_of(variant.of, path.parent))), **content}
    if isinstance(content.get("arms"), str):
        other = _read(_path_of(content.pop("arms"), path.parent))
        content |= {key: other[key] for key in ("arms", "axes", "rows") if key in other}
    axes = content.get("axes", {})
    for axis, said in axes.items():
        if isinstance(said, str):
            axes[axis] = _read(_path_of(said, path.parent))["axes"][axis]
    if "outcomes" in content:
        _check_outcomes(content["outcomes"], axes)
    return content


def _check_outcomes(outcomes: dict[str, str], axes: dict[str, Any]) -> None:
    """Raise ValueError where ``outcomes`` does not name the axes, or the axis ``over`` has one value."""
    if set(outcomes) != {"rows", "columns", "over"} or set(outcomes.values()) != set(axes):
        raise ValueError(f"outcomes: must name each of the axes {', '.join(axes)} as rows, columns or over")
    if len(axes[outcomes["over"]]) < 2:
        raise ValueError(f"outcomes: {outcomes['over']} must have two values at least")


def _arms(content: dict[str, Any]) -> dict[str, Arm]:
    """Return ``arms`` one by one, or all combinations of ``axes``."""
    if "axes" in content:
        axes = {axis: checked(dict[str, ArmPart], said, axis) for axis, said in _part(content, "axes", Any).items()}
        return _product(axes, checked(list[str], content.pop("rows"), "rows"))
    arms = _part(content, "arms", ArmPart)
    return {name: Arm(name, arm["label"], tuple(arm["overrides"]), arm.get("row", "")) for name, arm in arms.items()}


def _part(content: dict[str, Any], name: str, form: Any) -> dict[str, Any]:
    """Take a part out of the content of a file, whose values have a form by their names, and return it."""
    check_keys(content, [name], [*content, name], "it")
    part: dict[str, Any] = checked(dict[str, form], content.pop(name), name)
    if wrong := [key for key in part if not NAME_OF_PART.fullmatch(key)]:
        raise ValueError(f"{name}: {wrong[0]}: a name has letters, digits, _, - and . alone")
    return part


def _product(axes: dict[str, dict[str, Any]], rows: list[str]) -> dict[str, Arm]:
    """Return an arm for every combination of one value of each axis.

    Args:
        axes: by name, the values of each, with their labels and overrides.
        rows: the names of the first axes, which make the rows of the figure.

    Raises:
        ValueError: where ``rows`` are not the first of the axes, or two combinations have one name.
    """
    if list(axes)[: len(rows)] != rows:
        raise ValueError(f"rows: must be the first of the axes, not {rows}")
    if math.prod(map(len, axes.values())) > MOST:
        raise ValueError(f"axes: more than {MOST:,} combinations")
    arms = {}
    for values in itertools.product(*(axis.items() for axis in axes.values())):
        chosen = dict(zip(axes, values, strict=True))
        name = "_".join(value for value, _ in values)
        if name in arms:
            raise ValueError(f"axes: two combinations are named {name}")
        arms[name] = Arm(
            name=name,
            label=", ".join(said["label"] for _, said in values),
            overrides=tuple(override for _, said in values for override in said["overrides"]),
            row=", ".join(chosen[axis][1]["label"] for axis in rows),
            values={axis: said["label"] for axis, (_, said) in chosen.items()},
            keys={axis: key for axis, (key, _) in chosen.items()},
        )
    return arms
