"""Group the options of ``scripts/probe.py``, and refuse those that do not apply."""

from collections.abc import Sequence

from lnexp.errors import UserError

#: Options of the corpus and its folder.
CORPUS = ("data", "data_dir", "subword", "scale.toy")
SEEDS = ("n_seeds", "first_seed")
MINIBATCHES = ("probes.batches", "max_tokens", "order_seed", "seed")


def group_of(option: str) -> str:
    """Return the group of an option: ``data`` for ``++data.path=…``; outside the corpus groups, the option's key."""
    key = option.lstrip("+").partition("=")[0]
    return next((group for group in CORPUS if key == group or key.startswith(f"{group}.")), key)


def check_options(options: Sequence[str], allowed: Sequence[str], why: str) -> None:
    """Refuse options of other groups than the allowed ones.

    Raises:
        UserError: that gives the reason and the allowed options.
    """
    for option in options:
        if group_of(option) not in allowed:
            raise UserError(f"{option}: {why}; allowed are {', '.join(f'{group}=…' for group in allowed)}")
