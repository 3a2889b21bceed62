"""How everything runs that measures models, but for training."""

import logging
import warnings


def one_quiet_thread() -> None:
    """On one thread, for equal numbers on every machine and a process a core, and without others' messages."""
    import torch

    logging.disable(logging.INFO)  # fairseq's
    warnings.simplefilter("ignore")  # torch's, of memory for a GPU that is not there
    torch.set_num_threads(1)
