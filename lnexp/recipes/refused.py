"""Refuse in a recipe what the user's own command line alone may say: a recipe may come from others."""

import re
from collections.abc import Iterable
from typing import Any

#: What may stand for a value: the name of an option.
REFERENCE = re.compile(r"\$\{[\w.]+\}")
#: Options that say where a command writes, or what Hydra starts; also as a part of an object.
OWN = re.compile(
    r"^[+~\s]*hydra\b|\b(runs_dir|data_dir|save_dir|log_file|tensorboard_logdir|user_dir|wandb_project|aim_repo)\b"
)
#: A path that leads elsewhere, by its beginning or a part of it, in a value or within a list or an object.
ELSEWHERE = re.compile(r"(?:^|[\[{,:=\s'\"/])(/|~|\.\.(?:/|$))")


def refuse_resolvers(content: Any) -> None:
    """Raise ValueError for ``${name:…}`` anywhere: it could read what is private into published tables.

    Hydra takes backslashes away, and a name may be made of others, so that nothing but names is let through.
    """
    text = str(content).replace("\\", "")
    for found in re.finditer(r"\$\{", text):
        if not REFERENCE.match(text, found.start()):
            said = text[found.start() :].partition(":")[0][:30]
            raise ValueError(f"{said}:…: a recipe may refer to options, as ${{scale.lr_max.low}}, and to nothing else")


def refuse_own_options(overrides: Iterable[str]) -> None:
    """Raise ValueError for an override that only a command line may have, or a value that is a path to elsewhere."""
    for override in overrides:
        if OWN.search(override):
            raise ValueError(f"{override}: say it on the command line; a recipe does not choose places and launchers")
        if ELSEWHERE.search(override.partition("=")[2].replace("\\", "")):
            raise ValueError(f"{override}: a path that leads elsewhere; say it on the command line")
