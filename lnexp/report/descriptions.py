"""Describe figures, machines and corpora in words."""

from typing import Any

from lnexp.figures.panels import Line, Panel
from lnexp.numerics import numerics_of
from lnexp.results.evidence.provenance import unit_of

#: Lines of a panel that are described, at most.
MOST_LINES = 12


def in_words(panel: Panel) -> str:
    """Return what a panel shows, for readers who cannot see it: where each line begins and ends."""
    lines = [_line(line) for line in panel.lines[:MOST_LINES] if line.x]
    more = sum(bool(line.x) for line in panel.lines) - len(lines)
    axes = f"{' '.join(panel.y_label.split()) or panel.title.splitlines()[-1]} by {panel.x_label}"
    return f"{axes}. " + "; ".join([*lines, *([f"and {more} more lines"] if more > 0 else [])]) + "."


def made_on(environment: dict[str, Any]) -> str:
    """Return the machine, the commit and the numerics of an environment, in a line."""
    git = environment["git"] if isinstance(environment.get("git"), dict) else {}
    commit = git.get("commit")
    on_top = ", with changes on top" if commit and git.get("dirty") else ""
    known = [environment.get("cpu"), environment.get("device"), commit and f"commit {commit}{on_top}"]
    words = [str(part) for part in known if part]
    return ", ".join([*words, f"numerics {numerics_of(environment)}"]) if words else "unknown"


def corpus(manifest: dict[str, Any]) -> str:
    """Return the name and the size of a corpus, in a line."""
    unit = unit_of(manifest)
    sizes = ", ".join(f"{count:,} {split}" for split, count in manifest[unit].items())
    return f"{manifest['settings'].get('name', 'a corpus')}: {sizes} {unit}"


def _line(line: Line) -> str:
    ends = f"{line.mean[0]:.4g} at {line.x[0]:g}"
    if len(line.x) > 1:
        ends += f", {line.mean[-1]:.4g} at {line.x[-1]:g}"
    return f"{line.label}: {ends}"
