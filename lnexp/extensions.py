"""The folders of the package that users add files to; name file and line of an error that such a file raised."""

import traceback
from pathlib import Path

from lnexp.errors import UserError
from lnexp.paths import ROOT

PACKAGE = ROOT / "lnexp"
#: Those folders, and where a run's config names what it takes from each.
CHOSEN = {
    "plugin/placements": "model._name",
    "plugin/norms": "norm.kind",
    "plugin/optimizers": "optimizer._name",
    "plugin/lr_schedules": "lr_schedule._name",
    "training/interventions": "intervention._name",
}


#: What such files build on: an error that one of these raises itself is of the file that called it.
BASES = {
    *(f"plugin/{name}.py" for name in ("layers", "model", "norm", "placement", "registered_names", "torch_optimizer")),
    "training/intervention.py",
}


def in_extension(error: Exception) -> UserError | None:
    """Return an error that names file and line, where a file that users add has raised one; otherwise None.

    That is the case where the file is the innermost of the package's in the traceback, :data:`BASES` not counted, or
    cannot be parsed.
    """
    if isinstance(error, UserError):
        return None
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 0))
    ours = [(Path(file), line) for file, line in frames if Path(file).is_relative_to(PACKAGE)]
    if ours and frames[-1][0] == str(ours[-1][0]):  # ours raised it, and no package that ours calls
        while ours and ours[-1][0].relative_to(PACKAGE).as_posix() in BASES:
            ours.pop()
    if not ours or ours[-1][0].parent.relative_to(PACKAGE).as_posix() not in CHOSEN:
        return None
    path, line = ours[-1]
    text = error.msg if isinstance(error, SyntaxError) else next(iter(str(error).splitlines()), "")
    return UserError(f"{path.relative_to(ROOT)}, line {line}: {type(error).__name__}: {text}")
