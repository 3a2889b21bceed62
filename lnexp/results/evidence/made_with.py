"""Say where runs that stand in one table were made with different code, versions or machines."""

from collections.abc import Callable, Iterable

from lnexp.numerics import numerics_of
from lnexp.runs.environment import Environment, GitState


def commit_name(state: GitState) -> str:
    """Return a commit as pages name it; a star marks one with changes on top."""
    return f"`{(state.get('commit') or '')[:10]}`{'*' if state.get('dirty') else ''}"


def _commits(environment: Environment) -> tuple[str, ...]:
    """Return the commit, after those before the run was resumed."""
    state = environment.get("git", {})
    if not state.get("commit"):
        return ()
    return (*(f"`{commit[:10]}`" for commit in state.get("earlier", [])), commit_name(state))


def _machine(environment: Environment) -> tuple[str, ...]:
    known = [str(environment[key]) for key in ("cpu", "device") if environment.get(key)]
    return (", ".join(known),) if known else ()


def _instructions(environment: Environment) -> tuple[str, ...]:
    found = environment.get("instructions")
    return (found,) if found else ()


def _kernels(environment: Environment) -> tuple[str, ...]:
    chosen = environment.get("kernels", {})
    return tuple(f"`{name}={value}`" for name, value in sorted(chosen.items())) or ("torch's own",)


def _torch(environment: Environment) -> tuple[str, ...]:
    version = environment.get("packages", {}).get("torch")
    return (str(version),) if version else ()


def _numerics(environment: Environment) -> tuple[str, ...]:
    return (str(numerics_of(environment)),)


#: What an environment says of each, for people; nothing where that is not known.
SAID: dict[str, Callable[[Environment], tuple[str, ...]]] = {
    "commit": _commits,
    "machine": _machine,
    "instructions": _instructions,
    "kernels": _kernels,
    "torch": _torch,
    "numerics": _numerics,
}


def differing(environments: Iterable[Environment]) -> list[str]:
    """Return the names of :data:`SAID` in which environments differ."""
    each = list(environments)
    return [name for name, said in SAID.items() if len(set(map(said, each))) > 1]


def all_said(name: str, environments: Iterable[Environment]) -> str:
    """Return what environments say of a name of :data:`SAID`, each thing once; ``unknown`` where one says nothing."""
    said = {what for environment in environments for what in SAID[name](environment) or ("unknown",)}
    return "; ".join(sorted(said))


def differences(environments: Iterable[Environment]) -> str:
    """Return in a line how environments differ; empty where they do not."""
    each = list(environments)
    return "; ".join(f"{name} ({all_said(name, each)})" for name in differing(each))
