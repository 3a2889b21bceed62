"""Find the identity of the run that another run starts from, by the recipe, arm and seed that its config names."""

import json
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig

from lnexp.numerics import asked_numerics
from lnexp.plain import plain
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe

#: Options of every arm that both runs have in common, beside profile and corpus.
IN_COMMON = ("scale", "precision", "threads")
#: The part of a corpus' settings that the other run does not have.
PAIRS = "pairs"


def run_of_arm(*, _root_: DictConfig) -> str | None:
    """Return the identity of the run that ``start`` names: ``${lnexp.run_of_arm:}``.

    It is the run of that arm at the profile and on the corpus of this one, with its sizes, precision and threads, by
    the version of :func:`lnexp.numerics.asked_numerics`. None where no recipe is named, or the run starts from scratch.

    Raises:
        UserError: for a recipe, profile or arm that does not exist.
    """
    start = _root_.start
    if not start.recipe or start.get("epoch") == 0:
        return None
    in_common: dict[str, Any] = {name: _plain(_root_[name]) for name in IN_COMMON}
    in_common["data"] = {key: value for key, value in plain(_root_.data).items() if key != PAIRS}
    # as text, by which it is cached: a config is resolved many times
    arm = (str(start.recipe), str(start.arm), int(start.seed), str(_root_.profile))
    return _identity(*arm, json.dumps(in_common), asked_numerics())


@lru_cache(maxsize=1024)
def _identity(recipe: str, arm: str, seed: int, profile: str, in_common: str, numerics: int) -> str:
    from lnexp.configuration import compose  # which registers what is here
    from lnexp.runs.identity import identity

    loaded = load_recipe(recipe)
    setting = loaded.setting_at(profile)
    job = Job(loaded, profile, loaded.arm_named(arm, "start.arm"), seed)
    cfg = compose([f"profile={profile}", f"data={setting.data}", *job.overrides])
    for name, value in json.loads(in_common).items():
        cfg[name] = value
    return identity(cfg, numerics)


def _plain(value: Any) -> Any:
    return plain(value) if isinstance(value, DictConfig) else value
