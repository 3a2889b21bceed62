"""Call corpora as people do, in sentences and heads of tables."""

from collections import Counter
from collections.abc import Iterable

from lnexp.recipes.recipe import THEORY

#: By the name of its config, ``data=``.
NAMES = {
    "toy": "embedded corpus",
    "bert_toy": "made-up sentences",
    "gaussian": "Gaussian inputs",
    "multi30k": "Multi30k",
    "iwslt14-subset": "third of IWSLT14",
    "iwslt14": "IWSLT14",
    "wmt14-mini": "WMT14-mini",
}


def corpus_name(data: str) -> str:
    """Return what a corpus is called; one that is not known by the name of its config."""
    return NAMES.get(data, data)


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
