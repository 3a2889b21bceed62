"""Say which seeds there are, in words."""

from collections.abc import Iterable


def named_seeds(seeds: Iterable[int]) -> str:
    """Return seeds with the word, as ``seed 31`` or ``seeds 21 to 30``."""
    each = set(seeds)
    return f"seed{'s' if len(each) > 1 else ''} {seeds_in_words(each)}"


def seeds_in_words(seeds: Iterable[int]) -> str:
    """Return seeds as ``21 to 30`` where none is left out, and else as a list."""
    each = sorted({int(seed) for seed in seeds})
    if len(each) > 1 and each == list(range(each[0], each[-1] + 1)):
        return f"{each[0]} to {each[-1]}"
    return ", ".join(map(str, each))
