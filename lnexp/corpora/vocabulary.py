"""fairseq's dictionary: ``dict.{language}.txt``, and what number each symbol has."""

from collections import Counter
from pathlib import Path

#: fairseq's own symbols stand first, and the file does not list them.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
END, UNKNOWN = SPECIAL.index("</s>"), SPECIAL.index("<unk>")
#: fairseq-preprocess makes the number of symbols a multiple of this.
MULTIPLE = 8


def write_vocabulary(counts: Counter[str], path: Path) -> None:
    """Write a dictionary as ``fairseq-preprocess`` does: by frequency, then by code points, padded."""
    known = [(symbol, count) for symbol, count in counts.items() if symbol not in SPECIAL]
    listed = sorted(known, key=lambda item: (-item[1], item[0]))
    padding = -(len(SPECIAL) + len(listed)) % MULTIPLE
    listed += [(f"madeupword{number:04d}", 0) for number in range(padding)]
    path.write_text("".join(f"{symbol} {count}\n" for symbol, count in listed), encoding="utf-8", newline="\n")


def read_vocabulary(path: Path) -> list[str]:
    """The symbols of a dictionary, each at its number."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [*SPECIAL, *(line.rpartition(" ")[0] for line in lines)]
