"""Write and read fairseq's dictionaries, ``dict.{language}.txt``."""

from collections import Counter
from pathlib import Path

#: fairseq's own symbols, which come first and are not in the file.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
END, UNKNOWN = SPECIAL.index("</s>"), SPECIAL.index("<unk>")
#: ``fairseq-preprocess`` pads the number of symbols to a multiple of this.
MULTIPLE = 8


def write_vocabulary(counts: Counter[str], path: Path) -> None:
    """Write a dictionary as ``fairseq-preprocess`` does: sorted by frequency, then by code points, and padded."""
    known = [(symbol, count) for symbol, count in counts.items() if symbol not in SPECIAL]
    listed = sorted(known, key=lambda item: (-item[1], item[0]))
    padding = -(len(SPECIAL) + len(listed)) % MULTIPLE
    listed += [(f"madeupword{number:04d}", 0) for number in range(padding)]
    path.write_text("".join(f"{symbol} {count}\n" for symbol, count in listed), encoding="utf-8", newline="\n")


def read_vocabulary(path: Path) -> list[str]:
    """Return the symbols of a dictionary, at the index that is their number."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [*SPECIAL, *(line.rpartition(" ")[0] for line in lines)]
