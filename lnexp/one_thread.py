"""Set up a process that measures models: one thread, no messages of others."""

import logging
import warnings


def one_quiet_thread() -> None:
    """Use one thread, for equal numbers on every machine; silence fairseq's log and torch's warnings."""
    import torch

    logging.disable(logging.INFO)  # fairseq's log
    warnings.simplefilter("ignore")  # torch's warnings, as of pinned memory without a GPU
    torch.set_num_threads(1)
