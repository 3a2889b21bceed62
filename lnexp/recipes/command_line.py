"""Read recipes on a command line: which are asked for, and what other options do to their arms."""

from collections import Counter
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.options import Table, key_of
from lnexp.overrides import from_folder, spell_out, values_of
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Recipe
from lnexp.recipes.task_options import for_task, is_of_other_tasks, tasks_with
from lnexp.tasks import table_of_task


def split_recipes(arguments: list[str]) -> tuple[list[Recipe], list[str]]:
    """Return the recipes that command-line arguments ask for, and the other arguments.

    Raises:
        UserError: for one that is not there, and for two of one name, whose results would lie in one folder.
    """
    names, rest = [], []
    for override in OverridesParser.create().parse_overrides(spell_out(arguments)):
        if override.key_or_group == "recipe":
            names += values_of(override)
        else:
            rest.append(override.input_line or "")
    recipes = [load_recipe(name) for name in dict.fromkeys(names)]
    for name, count in Counter(recipe.name for recipe in recipes).items():
        if count > 1:
            raise UserError(f"recipe={','.join(names)}: {count} are named {name}, and have one folder; rename a file")
    return recipes, rest


def profile_of(rest: list[str]) -> str:
    """Return the profile that other arguments choose, some of which may be options of a recipe's own corpus."""
    return str(compose([option for option in rest if key_of(option) == "profile"]).profile)


def with_corpus(recipe: Recipe, profile: str, rest: list[str]) -> list[str]:
    """Return the other arguments for a recipe that trains, with its own corpus where they name none.

    Raises:
        UserError: for a profile that the recipe has no settings for, or a recipe that trains nothing.
    """
    _refuse_untrained(recipe)
    recipe.setting_at(profile)
    return own_corpus(recipe, profile, rest)


def shared_overrides(recipe: Recipe, profile: str, rest: list[str]) -> list[str]:
    """Return the overrides of a config that can be checked before its arms are known: task, corpus and ``rest``.

    Raises:
        UserError: as :func:`with_corpus` does.
    """
    return [*recipe.choice_of_task, *with_corpus(recipe, profile, rest)]


def for_readers(options: Sequence[str]) -> list[str]:
    """Return the options as another person would type them, without paths on this machine.

    Folders that have a default are left out, and other paths replaced by ``PATH``; addresses stay.
    """
    table = Table()
    said = [option for option in options if key_of(option) not in ("runs_dir", "data_dir")]
    return [
        f"{option.partition('=')[0]}=PATH" if table.locates(key_of(option)) and "://" not in option else option
        for option in said
    ]


def own_corpus(recipe: Recipe, profile: str, rest: list[str]) -> list[str]:
    """Return the other arguments, with the recipe's own corpus at a profile where they name none.

    Options that only other tasks have, for other recipes of the command line, are left out.

    Where the recipe's file says so by a relative path, the corpus lies beside that file.
    """
    said = any(key_of(override) == "data" for override in rest)
    setting = recipe.profiles[profile]
    rest = for_task(rest, recipe.task)
    return rest if said else [f"data={setting.data}", *(_beside(recipe, option) for option in setting.corpus), *rest]


def _beside(recipe: Recipe, option: str) -> str:
    """Return an option of a recipe's corpus; a path is made absolute."""
    return option if recipe.file is None else from_folder(option, recipe.file.parent, table_of_task(recipe.task))


def _refuse_untrained(recipe: Recipe) -> None:
    if recipe.measurement:
        raise UserError(f"recipe={recipe.name}: trains nothing; say python scripts/probe.py +recipe={recipe.reference}")


def own_options(recipe: Recipe, profile: str, rest: list[str]) -> list[str]:
    """Return those of the other arguments that make the arms others than the recipe states."""
    stated = f"data={recipe.profiles[profile].data}"
    table = table_of_task(recipe.task)
    mine = for_task(rest, recipe.task)
    return [option for option in mine if not table.keeps_arms(key_of(option)) and option != stated]


def check_overrides(recipes: list[Recipe], rest: list[str]) -> None:
    """Refuse to change what makes an arm the arm it is.

    Raises:
        UserError: for a sweep beside a recipe, an option that a recipe sets at the profile, or that is of a task that
            none of them has, or a recipe that trains nothing.
    """
    for recipe in recipes:
        _refuse_untrained(recipe)
    for override in rest:
        if recipes and all(is_of_other_tasks(override, recipe.task) for recipe in recipes):
            theirs = ", ".join(dict.fromkeys(recipe.task for recipe in recipes))
            having = " or ".join(sorted(tasks_with(key_of(override))))
            raise UserError(f"{override}: an option of task={having}, not of {theirs}")
    profile = profile_of(rest)
    parser = OverridesParser.create()
    for override in parser.parse_overrides(spell_out(rest)):
        key = override.key_or_group.removesuffix("._name")  # which is what choosing a file of a group sets
        if override.is_sweep_override():
            raise UserError(f"{override.input_line}: a recipe sweeps its own arms; give {key} one value")
        for recipe in recipes:
            other_task = key == "task" and override.value() != recipe.task
            if other_task or key in _fixed(recipe, profile, parser):
                raise UserError(
                    f"{override.input_line}: recipe {recipe.name} sets {key} itself; {_instead(recipe, key)}"
                )


def _instead(recipe: Recipe, key: str) -> str:
    """Return what to do for another value of an option that a recipe sets."""
    if key == "seed":
        return "say first_seed=… and n_seeds=…"
    return f"change it in {recipe.file.name}" if recipe.file else f"write a recipe that is a variant of {recipe.name}"


def _fixed(recipe: Recipe, profile: str, parser: OverridesParser) -> set[str]:
    """Return the names of the options that a recipe sets at a profile. Raises UserError where it has none."""
    recipe.setting_at(profile)
    jobs = [Job(recipe, profile, arm, 0) for arm in recipe.arms.values()]
    said = sorted({override for job in jobs for override in job.overrides})
    return {override.key_or_group for override in parser.parse_overrides(spell_out(said))}
