"""Hold what is said of all runs of a folder of results against where it lies, and against its corpus."""

import re
from collections.abc import Mapping
from typing import Any

from lnexp.recipes.jobs import THEORY
from lnexp.results.evidence.provenance import Provenance, unit_of
from lnexp.results.verifying.stated_by_settings import plain_words

#: All that a scope says: when or at which profile, corpus, sizes, which pairs, options of the user, and how data were
#: ordered.
SCOPE = re.compile(
    r"[\w ]+, data [^,\s]+(?:(?:,| or) [\d,]+(?: of [\d,]+)? \w+ \w+(?: \([\w.-]+\))?)*"
    r"(?:, with \S+=.*)?(?:, one order of the data for all seeds)?"
)
#: The sizes that a scope states, as ``51,777 of 160,239 training pairs``: of them the first is what was trained on.
SIZE = re.compile(r", ([\d,]+)(?: of [\d,]+)? training ")
#: A target of make, or a variable that targets take.
MAKE_WORD = re.compile(r"\w[\w-]*|(PROFILE|DATA|SEEDS|ARMS|OPTIONS)=.*")
#: The scripts that make results.
SCRIPTS = ("reproduce", "collect", "probe", "train")


def refuse_other_folders(profile: str, data: str, scope: str, command: str, made: Provenance) -> None:
    """Refuse results that say they are of another profile, corpus or size than their folder and their corpus are.

    Args:
        profile, data: of the folder.
        scope: what the runs were trained on, in words.
        command: what a reader would type for all of them; older results without claims do not say it.
        made: what the folder's ``provenance.json`` says.

    Raises:
        ValueError: for such results, and for a command of which a shell would do more than it says.
    """
    begins = [f"{when} training, data {data}" for when in ("before", "after")]
    if not re.match(
        "|".join(map(re.escape, begins if profile == THEORY else [f"profile {profile}, data {data}"])), scope
    ):
        raise ValueError(f"its scope is {scope!r}, its folder is {profile}/{data}")
    if not SCOPE.fullmatch(scope):
        raise ValueError(f"its scope says more than a scope does: {scope!r}")
    if other := {name for manifest in made.data if (name := _name(manifest)) not in (None, data)}:
        raise ValueError(f"its corpus is {', '.join(sorted(map(str, other)))}, its folder is that of {data}")
    stated = {int(size.replace(",", "")) for size in SIZE.findall(scope)}
    if made.data and not stated <= sizes_of(made):
        raise ValueError(f"its scope is {scope!r}, which is not the size of its corpus")
    if command and not _makes_results(list(plain_words(command))):
        raise ValueError("the command of its claims does more than making results")


def _makes_results(words: list[str]) -> bool:
    """Return whether the words of a command are those of a script that makes results, or of a target of make."""
    if words[:1] == ["make"]:
        return all(MAKE_WORD.fullmatch(word) for word in words[1:])
    return words[:2] in [["python", f"scripts/{name}.py"] for name in SCRIPTS]


def sizes_of(made: Provenance) -> set[int]:
    """Return how much text, in the unit of its task, each corpus has to train on."""
    return {manifest[unit_of(manifest)]["train"] for manifest in made.data}


def _name(manifest: Mapping[str, Any]) -> Any:
    return manifest["settings"].get("name")
