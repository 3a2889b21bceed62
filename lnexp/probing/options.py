"""What can be said on the command line of ``scripts/probe.py`` beside recipes or a model."""

from collections.abc import Sequence

from lnexp.errors import UserError

#: The corpus, and where it lies.
CORPUS = ("data", "data_dir", "subword", "scale.toy")
SEEDS = ("n_seeds", "first_seed")
MINIBATCHES = ("probes.batches", "max_tokens", "order_seed", "seed")


def group_of(option: str) -> str:
    """``data`` of ``++data.path=…``, ``scale.toy`` of ``scale.toy.train_pairs=…``; others as they are."""
    key = option.lstrip("+").partition("=")[0]
    return next((group for group in CORPUS if key == group or key.startswith(f"{group}.")), key)


def check_options(options: Sequence[str], allowed: Sequence[str], why: str) -> None:
    """Refuse options of other groups.

    Raises:
        UserError: that says why, and what can be said.
    """
    for option in options:
        if group_of(option) not in allowed:
            raise UserError(f"{option}: {why}; what can be said is {', '.join(f'{group}=…' for group in allowed)}")
