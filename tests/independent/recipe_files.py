"""Read a recipe's file without the package: its arms, its claims, its seeds, with what it takes from other recipes."""

import itertools
import subprocess
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recipe_of(folder, name):
    """Return the content of the recipe of a folder of results: of the copy there, or of a file of the project."""
    copy = folder / "recipe.yaml"
    return content(copy if copy.exists() else ROOT / "recipes" / f"{name}.yaml")


@cache
def content(path):
    said = yaml.load(path.read_text(encoding="utf-8"), LOADER)
    if "variant" in said:
        variant = said["variant"]
        base = content(beside(path, variant["of"]))
        said = {**base, "claims": [of_variant(claim, variant) for claim in base["claims"]], **said}
    if isinstance(said.get("arms"), str):
        other = content(beside(path, said["arms"]))
        said |= {key: other[key] for key in ("arms", "axes") if key in other}
    return said


def beside(path, reference):
    own = reference.endswith((".yaml", ".yml"))
    return path.parent / reference if own else ROOT / "recipes" / f"{reference}.yaml"


def of_variant(claim, variant):
    since = variant.get("later", {}).get(claim["id"], variant["since"])
    names = {key: f"{claim[key]}-{variant['suffix']}" for key in ("id", "implied_by", "restates") if key in claim}
    return {**claim, **names, "since": since}


def arms_of(said):
    """Return the names of all arms."""
    if "axes" not in said:
        return list(said["arms"])
    return ["_".join(names) for names in itertools.product(*axes_of(said).values())]


def axes_of(said):
    """Return the values of all axes, by the names of these."""
    return {
        axis: content(ROOT / "recipes" / f"{values}.yaml")["axes"][axis] if isinstance(values, str) else values
        for axis, values in said["axes"].items()
    }


def plan_of(said, profile):
    """Return the seeds that a recipe plans at a profile; None where it has no such profile."""
    setting = said.get("profiles", {}).get(profile)
    if setting is None:
        return None
    first, count = (setting.get(key, said[key]) for key in ("first_seed", "n_seeds"))
    return range(first, first + count)


@cache
def content_at(commit, name):
    """Return the content of a recipe of the project at a commit, of a variant with its seeds; empty if it had none."""
    command = ["git", "-C", ROOT, "show", f"{commit}:recipes/{name}.yaml"]
    said = yaml.load(subprocess.run(command, capture_output=True, check=False).stdout, LOADER) or {}
    return {**content_at(commit, said["variant"]["of"]), **said} if "variant" in said else said


def oldest_first(commits):
    """Return commits of one line of history by how many each has in its own; those that git does not know first."""

    def size(commit):
        command = ["git", "-C", ROOT, "rev-list", "--count", commit]
        return int(subprocess.run(command, capture_output=True, check=False).stdout or 0)

    return sorted(commits, key=size)
