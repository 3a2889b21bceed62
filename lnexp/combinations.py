"""Parse a command line that gives options several values into the runs that it asks for, as Hydra's own sweep does."""

from collections.abc import Sequence

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ValueType

from lnexp.errors import UserError


def combinations(overrides: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return, of each combination of the values of options, the overrides, and those of them that vary.

    Overrides without several values have one combination, of which none varies.

    Raises:
        UserError: for Hydra's ``glob``, which takes what files there are, so that a sweep would change with them.
    """
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    if globs := [override for override in parsed if override.value_type is ValueType.GLOB_CHOICE_SWEEP]:
        raise UserError(f"{globs[0].input_line}: name the values, as {globs[0].get_key_element()}=a,b")
    swept = {override.get_key_element() for override in parsed if override.is_sweep_override()}
    (jobs,) = BasicSweeper.split_arguments(parsed, None)
    return [(job, [word for word in job if word.partition("=")[0] in swept]) for job in jobs]
