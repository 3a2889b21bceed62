"""fairseq's plugin: ``fairseq-train --user-dir lnexp/plugin --arch lnexp_pre_ln --task lnexp_translation …``.

Importing the package registers with fairseq

- a model ``lnexp_<placement>`` for every file in ``placements/``,
- an optimizer ``lnexp_<name>`` for every file in ``optimizers/``,
- a learning-rate schedule ``lnexp_<name>`` for every file in ``lr_schedules/``,
- the task ``lnexp_translation``,
- a model, a criterion, an optimizer and a schedule for arrays, in ``arrays/``.

All imports inside are relative, because fairseq imports a ``--user-dir`` under the folder's own name.
"""

import argparse

import torch

from . import arrays, lr_schedules, optimizers, placements, translation  # noqa: F401  (imported to register)

# fairseq's checkpoints may hold this class beside tensors and plain values; torch loads nothing else it does not know.
torch.serialization.add_safe_globals([argparse.Namespace])
