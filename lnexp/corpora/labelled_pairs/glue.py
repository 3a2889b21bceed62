"""Write pairs of sentences from the files of GLUE: MRPC's and RTE's, as they come (Wang et al. 2019).

The labels of GLUE's own test sets are not public: a split without labels is refused.
"""

from pathlib import Path
from typing import Any, Literal

from lnexp.corpora.archives import TextLocation
from lnexp.corpora.cleaning import decode_at, flaw
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.finish import Finish
from lnexp.corpora.labelled_pairs import LabelledPair, finished, write_pairs
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError


def write(
    folder: Path,
    context: PreparationContext,
    *,
    path: str,
    splits: dict[str, str],
    columns: dict[str, str],
    labels: list[str],
    language: str,
    tokenizer: Literal["moses", "none"],
    lowercase: bool,
    sha256: Any = None,
) -> dict[str, Any]:
    """Write the pairs of each split.

    Args:
        folder: to write to.
        context: of every preparation.
        path: the user's folder.
        splits: the file of each split, as a path below ``path``.
        columns: the names of the columns of ``label``, ``first`` and ``second``.
        labels: the labels of class 0, class 1 and so on, as the files have them.
        language, tokenizer, lowercase: how sentences are written.
        sha256: of the files; it only makes the settings of different files differ.

    Returns:
        For the manifest: ``sources``, the files.

    Raises:
        UserError: where a file is missing, or a row is not as stated.
    """
    finish = Finish("data.pairs", language, tokenizer, lowercase)
    for split in SPLITS:
        pairs = _pairs(Path(path) / splits[split], columns, [str(label) for label in labels])
        write_pairs(folder, split, finished(pairs, finish))
    return {"sources": splits}


def _pairs(path: Path, columns: dict[str, str], labels: list[str]) -> list[LabelledPair]:
    """Return the pairs of a file of values between tabulators, whose first line names the columns."""
    lines = enumerate(TextLocation(path).lines(), start=1)
    rows = (decode_at(line, f"{path}:{number}").split("\t") for number, line in lines)
    head = next(rows, [])
    if missing := [name for name in columns.values() if name not in head]:
        raise UserError(f"{path}: no column {missing[0]!r} in its first line")
    place = {part: head.index(name) for part, name in columns.items()}
    pairs = []
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise UserError(f"{path}:{number}: {len(row)} values, not {len(head)}")
        label, first, second = (row[place[part]] for part in ("label", "first", "second"))
        if label not in labels:
            raise UserError(f"{path}:{number}: label {label!r}, not one of {', '.join(labels)}")
        for sentence in (first, second):
            if problem := flaw(sentence):
                raise UserError(f"{path}:{number}: {problem}")
        pairs.append(LabelledPair(labels.index(label), first, second))
    return pairs
