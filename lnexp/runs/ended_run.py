"""Say in one line how a run of a sweep ended."""

from lnexp.errors import UserError
from lnexp.printable import one_line
from lnexp.runs.folder import RunFolder, status_of
from lnexp.runs.progress import clock
from lnexp.runs.records import seconds
from lnexp.runs.sweep import Sweep, SweepRun, names_of
from lnexp.tasks import load_task
from lnexp.tasks.measures import known_values
from lnexp.terminal import WIDTH, shortened


def ended_line(position: int, sweep: Sweep, member: SweepRun, folder: RunFolder) -> str:
    """Return a line as ``[ 7/42] post-ln adam lr .004 warm-up 300 s12  BLEU 91.6  0:38``.

    The score is the best of any epoch, the time that of the run's training. Of a run that failed the reason is there.

    Args:
        position: how many runs of the sweep are over, with this one.
        sweep: all runs.
        member: the run that has ended.
        folder: its folder.
    """
    total = str(len(sweep.members))
    head = f"[{position:>{len(total)}}/{total}] "
    result = _result(member, folder)
    names = names_of(sweep.members)
    widest = min(max(map(len, names.values())), WIDTH - len(head) - len("  diverged, BLEU 91.6  1:03:20"))
    return shortened(f"{head}{_shortened(names[member.identity], member.seed, widest):<{widest}}  {result}")


def _shortened(name: str, seed: int, width: int) -> str:
    """Return a run's name in at most ``width`` characters, the seed at its end included."""
    end = f" s{seed}"
    return shortened(name.removesuffix(end), width - len(end)) + end if name.endswith(end) else shortened(name, width)


def _result(member: SweepRun, folder: RunFolder) -> str:
    status = status_of(folder.path)
    try:
        epochs = folder.epochs()
    except (UserError, OSError) as error:  # cleared meanwhile, to be trained afresh
        return f"malformed: {error}"
    if status.get("state") == "failed":
        return f"failed: {one_line(status.get('why', ''))}"
    score = load_task(member.task).score
    known = known_values(epochs, score.valid)
    diverged = "diverged" if status.get("state") == "diverged" else ""
    reached = f"{score.title} {score.text(max(known))}" if known else ""
    return f"{', '.join(filter(None, (diverged, reached)))}  {clock(seconds(epochs))}"
