"""Resume training from a checkpoint that others may have put into a run's folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import in_a_line
from lnexp.training.memory import is_out_of_memory


@contextmanager
def resuming(path: Path) -> Iterator[None]:
    """Say in one line what fairseq, torch and our optimizers raise where a checkpoint is restored in the block.

    Raises:
        UserError: where it holds something else than what training is resumed from.
    """
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:  # whatever the file states
        if is_out_of_memory(error):
            raise
        why = in_a_line(error)
        raise UserError(f"{path}: nothing to resume from ({why}); force=true trains the run afresh") from error


def refuse_other_update(path: Path, folder: RunFolder, updates: int) -> None:
    """Refuse a checkpoint that was saved after another number of updates than the run has recorded.

    Args:
        path: of the checkpoint.
        folder: of the run.
        updates: how many had been made, as the checkpoint says.

    Raises:
        UserError: for such a checkpoint.
    """
    recorded = folder.updates_at(path)
    if recorded is not None and updates != recorded:
        raise UserError(f"{path}: is of update {updates}, not of {recorded}; force=true trains the run afresh")
