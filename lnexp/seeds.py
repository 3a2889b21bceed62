"""Say which seeds there are, in words."""

from collections.abc import Iterable


def seeds_in_words(seeds: Iterable[int]) -> str:
    """Return seeds as ``21 to 30`` where none is left out, and else as a list."""
    each = sorted({int(seed) for seed in seeds})
    if len(each) > 1 and each == list(range(each[0], each[-1] + 1)):
        return f"{each[0]} to {each[-1]}"
    return ", ".join(map(str, each))
