"""Find the runs that a command line asks for: the arms of recipes, or a sweep's combinations."""

from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf

from lnexp.combinations import combinations
from lnexp.configuration import compose
from lnexp.corpora.known import KNOWN_LABELLED_PAIRS, KNOWN_WORDS
from lnexp.overrides import spell_out
from lnexp.recipes.command_line import check_overrides, profile_of, shared_overrides, split_recipes
from lnexp.recipes.jobs import Job, jobs_of
from lnexp.runs.identity import identities, identity


@dataclass
class Asked:
    """An arm of a recipe, or a combination of a sweep's values.

    Attributes:
        name: what people call it.
        cfg: the config of one run.
        runs: the identities of all its runs.
    """

    name: str
    cfg: DictConfig
    runs: list[str]


def asked(words: list[str]) -> list[Asked]:
    """Return the arms of the recipes that a command line asks for, or all combinations of its values.

    Args:
        words: overrides, recipes or several values of an option among them, as ``scripts/train.py -m`` takes them.

    Raises:
        UserError: for a recipe or an option that is unknown or does not fit, or a claim that cannot be judged.
    """
    from lnexp.results.judging.questions import check_claims  # here, for most commands need no pandas

    recipes, rest = split_recipes(spell_out(words))
    if not recipes:
        return _combinations(rest)
    check_overrides(recipes, rest)
    for recipe in recipes:
        check_claims(recipe)
    found = []
    for recipe in recipes:
        shared = shared_overrides(recipe, profile_of(rest), rest)
        jobs = jobs_of(recipe, compose(shared))
        seeds = sorted({job.seed for job in jobs})
        first: dict[str, Job] = {}
        for job in jobs:
            first.setdefault(job.arm.name, job)
        for arm, job in first.items():
            cfg = _config([*shared, *job.overrides])
            found.append(Asked(f"{recipe.name}/{arm}", cfg, identities(cfg, seeds)))
    return found


def _combinations(words: list[str]) -> list[Asked]:
    """Return every combination of the values of options, as a sweep trains them; a single run is one, too."""
    found = []
    for job, varied in combinations(words):
        cfg = _config(job)
        found.append(Asked(" ".join(varied) or "the run", cfg, [identity(cfg)]))
    return found


def _config(overrides: list[str]) -> DictConfig:
    """Return the config of a run; a corpus of the user's need not be named where its size is known."""
    cfg = compose(overrides)
    if cfg.data.name in KNOWN_WORDS and OmegaConf.is_missing(cfg.data, "path"):
        cfg.data.path, cfg.data.text.sha256 = "", None
    pairs = cfg.data.get("pairs")
    of_glue = pairs is not None and pairs.name in KNOWN_LABELLED_PAIRS and OmegaConf.is_interpolation(pairs, "path")
    if of_glue and OmegaConf.is_missing(cfg.data, "glue"):
        pairs.path, pairs.sha256 = "", None
    return cfg
