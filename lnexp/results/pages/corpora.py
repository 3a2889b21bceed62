"""Call the corpora of results so that two profiles of one corpus are told apart."""

from collections import Counter
from collections.abc import Iterable

from lnexp.corpora.names import corpus_name
from lnexp.recipes.jobs import THEORY


def names_of_corpora(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return what corpora are called by profile and data, with the profile where those of two are called the same.

    What was measured without training, at the profile of theory, is called by its corpus alone.
    """
    names = {(profile, data): corpus_name(data) for profile, data in places}
    trained = Counter(name for (profile, _), name in names.items() if profile != THEORY)
    return {
        (profile, data): f"{name} ({profile})" if profile != THEORY and trained[name] > 1 else name
        for (profile, data), name in names.items()
    }
