"""State the known sizes and checksums of public corpora; check a preparation against them, recognise parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class KnownCorpus:
    """The published facts of a corpus.

    Attributes:
        title: its name for readers.
        pairs: sentence pairs of each split, where the exact number is known.
        about: approximate number of training pairs, where the exact number is not known.
        sha256: checksums of the tokenised files, before subwords.
    """

    title: str
    pairs: Mapping[str, int]
    about: int = 0
    sha256: Mapping[str, str] = field(default_factory=dict)


KNOWN = {
    # sizes: the log of fairseq's prepare-iwslt14.sh; checksums: of its valid and test before BPE
    "iwslt14": KnownCorpus(
        title="IWSLT14 De-En",
        pairs={"train": 160_239, "valid": 7_283, "test": 6_750},
        sha256={
            "valid.de": "3f051579c9d8c7281a6ea8c72ad4ae09dbaa9bb24dfd41166f2c3a3df7cd940a",
            "valid.en": "e6d7317a9772cd1ed970910c611e9e7dada1f34439269b44a9d801334bff948d",
            "test.de": "e718c783e33160b7d72af8f733756a466e0d0c016eff8ab624c1b0d1d01cbbdf",
            "test.en": "4b127beb9050511a3e6209cd837ff36f623a3a423666b32aba6e208b7330cf4c",
        },
    ),
    # newstest2013 and newstest2014; "about 4.5 million sentence pairs" (Vaswani et al. 2017, section 5.1)
    "wmt14": KnownCorpus(title="WMT14 En-De", pairs={"valid": 3_000, "test": 3_003}, about=4_500_000),
    # task 1 (Elliott et al. 2016), with the test set of 2016
    "multi30k": KnownCorpus(title="Multi30k De-En", pairs={"train": 29_000, "valid": 1_014, "test": 1_000}),
}

#: Words of the training text of corpora of one language that are not fetched here, for planning.
KNOWN_WORDS = {"wikipedia_books": 3_400_000_000}  # Xiong et al. 2020, appendix A.2

#: Labelled pairs for training of GLUE's sets, for planning (Wang et al. 2019, table 1, rounds them to 3.7k and 2.5k).
KNOWN_LABELLED_PAIRS = {"mrpc": 3_668, "rte": 2_490}


def recognise(sha256: Mapping[str, str]) -> str | None:
    """Return the known corpus whose valid and test sets have these checksums, by file name, or None."""
    for name, known in KNOWN.items():
        if known.sha256 and all(sha256.get(file) == digest for file, digest in known.sha256.items()):
            return name
    return None


def differences(name: str, pairs: Mapping[str, int], sha256: Mapping[str, str], *, part: bool) -> list[str]:
    """Return the differences between a preparation and the known corpus, a phrase each.

    Args:
        name: of the known corpus.
        pairs: prepared sentence pairs of each split.
        sha256: checksums of the prepared files.
        part: whether it is a part of the corpus, which may have any number of training pairs.
    """
    known = KNOWN[name]
    wrong = [
        f"{split} has {pairs[split]:,} pairs, not {count:,}"
        for split, count in known.pairs.items()
        if pairs[split] != count and not (part and split == "train")
    ]
    other = [file for file, digest in known.sha256.items() if sha256.get(file) != digest]
    return wrong + [f"{file} is not the known one" for file in other]


def is_whole(name: str, train_pairs: int) -> bool:
    """Return whether this is the full number of training pairs; False where the full number is not known."""
    return KNOWN[name].pairs.get("train") == train_pairs


def train_pairs_in_words(count: int, part_of: str | None) -> str:
    """Return ``51,777 of 160,239 training pairs`` for a part of a known corpus, ``29,000 training pairs`` otherwise."""
    if part_of is None or is_whole(part_of, count):
        return f"{count:,} training pairs"
    known = KNOWN[part_of]
    if "train" in known.pairs:
        return f"{count:,} of {known.pairs['train']:,} training pairs"
    return f"{count:,} training pairs (all of {known.title}: about {known.about / 1e6:g} million)"
