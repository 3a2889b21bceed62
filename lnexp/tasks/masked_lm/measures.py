"""Measure how many updates a run takes to reach a validation nll."""

from omegaconf import OmegaConf

from lnexp.tasks.contract import MeasuredRun


def updates_to_nll(run: MeasuredRun) -> float | None:
    """Return the updates until the validation nll is ``evaluation.target_nll``, by linear interpolation between epochs.

    None for a run that never reaches it, because nobody knows how many it would take, and where no target is set.
    """
    target = OmegaConf.select(run.cfg, "evaluation.target_nll")
    if target is None:
        return None
    before: tuple[float, float] | None = None
    for record in run.epochs:
        update, nll = record["update"], record["valid_nll"]
        if nll is None:
            before = None
            continue
        if nll <= target:
            if before is None:
                return float(update)
            earlier, higher = before
            return earlier + (update - earlier) * (higher - target) / (higher - nll)
        before = update, nll
    return None
