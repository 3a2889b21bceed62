"""Signal that training ends because every run has diverged."""


class EveryMemberDivergedError(Exception):
    """No member is left to train: every run of an array has diverged, or the single run."""
