"""Run ``scripts/prepare_data.py``: prepare corpora and print what they hold."""

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig

from lnexp.cli import one_line_errors, overrides_of_the_command_line
from lnexp.configuration import check, compose
from lnexp.recipes.command_line import own_corpus, profile_of, split_recipes
from lnexp.recipes.jobs import NO_CORPUS, THEORY, Job
from lnexp.recipes.recipe import Recipe
from lnexp.tasks import task_of
from lnexp.tasks.contract import Task


def main() -> None:
    """Prepare the corpus of a config, or those of recipes, and print what they hold."""
    overrides = overrides_of_the_command_line(
        "Prepare a corpus: download, tokenise, filter, segment, binarise. Training does this by itself.",
        "python scripts/prepare_data.py data=multi30k subword=subword_nmt data.subword.size=8000",
    )
    with one_line_errors():
        recipes, rest = split_recipes(overrides)
        for cfg in _of_recipes(recipes, rest) if recipes else [compose(rest)]:
            check(cfg)
            task = task_of(cfg)
            corpus = task.prepare(cfg.data, cfg.data_dir)
            print(*report(corpus.manifest, task), sep="\n")
            print(f"{cfg.data.name} is in {corpus.bin.parent}; fairseq-train takes {corpus.bin}")


def _of_recipes(recipes: list[Recipe], rest: list[str]) -> Iterator[DictConfig]:
    """Yield the config of each corpus that recipes take, once.

    Raises:
        UserError: for a profile that a recipe has no settings for.
    """
    seen: list[DictConfig] = []
    for recipe in recipes:
        profile = THEORY if recipe.measurement else profile_of(rest)
        if recipe.setting_at(profile).data == NO_CORPUS:
            print(f"{recipe.name} takes no corpus")
            continue
        cfg = compose([*_of_a_run(recipe, profile), *own_corpus(recipe, profile, rest)])
        if cfg.data not in seen:
            seen.append(cfg.data)
            yield cfg


def _of_a_run(recipe: Recipe, profile: str) -> list[str]:
    """Return the overrides of one of a recipe's runs: its settings can choose the corpus, as pairs=mrpc does."""
    if recipe.measurement:
        return recipe.choice_of_task
    return Job(recipe, profile, next(iter(recipe.arms.values())), recipe.planned_at(profile).start).overrides


def report(manifest: dict[str, Any], task: Task) -> list[str]:
    """Return lines for a terminal: repaired lines, pairs or sentences left out and why, how many each split has.

    Args:
        manifest: of a corpus, as ``task`` has it.
        task: that it was prepared for.
    """
    unit = task.unit.replace("_", " ")
    lines = [f"{what} ({count:,} lines)" for what, count in manifest.get("mended", {}).items()]
    for split, steps in manifest.get("steps", {}).items():
        if steps["left_out"]:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in steps["left_out"].items())
            lines.append(f"{split}: {steps['read']:,} {unit} read; left out: {reasons}")
    if (held_out := manifest.get("held_out")) and held_out["in_train"]:
        lines.append(f"{held_out['in_train']:,} of {held_out['pairs']:,} pairs of valid and test are in train, too")
    others = " and ".join(f"{manifest[task.unit][split]:,} {split}" for split in ("valid", "test"))
    lines.append(f"{task.size_in_words(manifest)}, {others}")
    if seen := manifest.get("pre_trained_on"):
        lines.append(
            f"{seen['in_train']:,} of {seen['sentences']:,} sentences of valid and test are in the text's train"
        )
    return lines
