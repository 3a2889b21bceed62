"""Make a recipe of another one: the same arms and claims in another reading of the paper, or from other weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Variant:
    """How a recipe differs from the one that it is a variant of.

    Attributes:
        of: the other recipe's name.
        suffix: what is added to the names of its claims.
        since: the commit that added the variant, and with it its claims.
        later: the commits that added single claims to the other recipe after that, by the names of those claims.
        replacing: overrides of settings and arms by what takes their place.
        adding: further settings.
        profiles: those of the other recipe's profiles that it has; all, where none is named.
    """

    of: str
    suffix: str
    since: str
    later: dict[str, str] = field(default_factory=dict)
    replacing: dict[str, str] = field(default_factory=dict)
    adding: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()

    def applied(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of the variant's file, given that of the other recipe.

        Raises:
            ValueError: where an override to replace, a profile or a later claim is nowhere.
        """
        if unknown := self.later.keys() - {claim["id"] for claim in content["claims"]}:
            raise ValueError(f"variant: {', '.join(sorted(unknown))}: not a claim of recipe {self.of}")
        if unused := self.replacing.keys() - set(_overrides(content)):
            raise ValueError(f"variant: {', '.join(sorted(unused))}: not in recipe {self.of}")
        if missing := set(self.profiles) - content.get("profiles", {}).keys():
            raise ValueError(f"variant: {', '.join(sorted(missing))}: no profile of recipe {self.of}")
        changed = self._replaced(dict(content))
        if self.profiles:
            changed["profiles"] = {name: changed["profiles"][name] for name in self.profiles}
        changed["settings"] = [*changed["settings"], *self.adding]
        changed["claims"] = [self._claim(claim) for claim in changed["claims"]]
        return changed

    def _claim(self, claim: Mapping[str, Any]) -> dict[str, Any]:
        why = f"The test of {claim['id']}."
        since = self.later.get(claim["id"], self.since)
        names = {key: f"{claim[key]}-{self.suffix}" for key in ("id", "implied_by", "restates") if claim.get(key)}
        return {**claim, **names, "since": since, "why": why}

    def _replaced(self, value: Any) -> Any:
        """Return a part of a file with the overrides replaced: they are strings of lists, whatever these lie in."""
        match value:
            case dict():
                return {key: self._replaced(inner) for key, inner in value.items()}
            case list():
                return [self.replacing.get(inner, inner) if isinstance(inner, str) else inner for inner in value]
        return value


def _overrides(content: Any) -> list[str]:
    """Return all strings of the lists of a part of a file."""
    match content:
        case dict():
            return [override for inner in content.values() for override in _overrides(inner)]
        case list():
            return [inner for inner in content if isinstance(inner, str)]
    return []
