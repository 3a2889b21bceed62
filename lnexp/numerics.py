"""State the version of the numerics: the same configuration gives the same numbers within one version.

Raise :data:`NUMERICS` in the commit that changes a number, by a formula, a kernel, an order of operations or of draws,
add a row here, and record the golden runs again (``python tests/golden_numerics.py``):

=======  ===============================================================================================================
Version  What gives other numbers than the version before
=======  ===============================================================================================================
1        Everything up to commit 62cfe4c, and the kernels before commit 5a3b39f. Records of this version do not name it.
2        On a CPU, attention to at most 24 positions is two products and a softmax, and arrays normalise member by
         member (commit 5a3b39f). Admin, B2T, DeepNorm and ReZero start from the weights that their papers and code
         state (commit 5195816).
3        On a CPU, the softmax over fewer than 16 positions is over 16, the further ones hidden, and attention to 25
         to 40 is two products and a softmax, too; this changes the rounding alone. Seeds give independent orders of the
         data (commit 271ef90) and numbers of dropout: epoch and update were added to the seed, so that epoch 2 of a
         seed was epoch 1 of the next one.
=======  ===============================================================================================================

Some changes after commit 7c509a4 left the version as it is, because few runs have other numbers by them: those of
``lr_schedule=linear`` with ``skip_remainder_batch``, of Admin that a probe looked at first with ``batch_size`` or
``curriculum``, of ``task=masked_lm`` with ``diagnostics.sharpness``, those with
``model.deep_norm_constants=torchscale``, those with normalised gradients of a root mean square below 1e-18, those with
``blocks.break_mode=eos`` of text with empty lines, and in half precision those with ``finetune_from_model`` and those
that were interrupted. No published run is known to be one. The measurement ``dependency`` measures the shares of
sublayers in later blocks since commit 849d2f2, and computed them before. After commit 3a010b8b a run of its own on a
CPU steps its parameters as one vector, as arrays always have: of models with a parameter of no multiple of 16 elements,
as ReZero's factors, the last digits of some numbers can be others. Kernels that an environment variable chooses
(:mod:`lnexp.torch_variables`) round differently, as those of another CPU do: a run's records name both, and neither is
a version.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

NUMERICS = 3

#: The version of records and identities that name none.
FIRST = 1

#: The commits that ended the versions of which records may state no commit: code of that version is older.
ENDED = {1: "5a3b39f"}

#: The version whose identities are being computed: a run's is made of that of the run that it starts from.
_asked = ContextVar("version of the numerics", default=NUMERICS)


def asked_numerics() -> int:
    """Return the version of the numerics that identities are asked for: today's, outside of :func:`asking_for`."""
    return _asked.get()


@contextmanager
def asking_for(version: int) -> Iterator[None]:
    """Let configs that are resolved within name the runs that they start from as code of a version did."""
    token = _asked.set(version)
    try:
        yield
    finally:
        _asked.reset(token)


def numerics_of(environment: Mapping[str, Any]) -> int:
    """Return the version of the numerics that ``environment.json``, or an environment in a provenance, is of."""
    return int(environment.get("numerics", FIRST))
