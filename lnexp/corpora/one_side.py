"""Write the text of one language from files and archives, among them one side of parallel text: ``{split}.{language}``.

The parallel text is divided as :mod:`lnexp.corpora.labelled_pairs.pivot` divides it for pairs, and train has no
sentence of valid or test: what pairs are tested on has not been seen in pre-training.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from lnexp.checks import check_whole
from lnexp.corpora.archives import TextLocation
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.documents import documents_of
from lnexp.corpora.finish import Finish
from lnexp.corpora.labelled_pairs.pivot import sentences_by_split
from lnexp.corpora.text import chunks

#: Valid and test first: train has none of their sentences.
ORDER = ("valid", "test", "train")
#: Lines that a worker process is given at a time.
CHUNK = 4_000


def write(
    folder: Path,
    context: PreparationContext,
    *,
    language: str,
    root: str,
    splits: dict[str, list[str]],
    tokenized: list[str],
    by_pivot: dict[str, Any],
    tokenizer: Literal["moses", "none"],
    lowercase: bool,
    sha256: str | None = None,
) -> dict[str, Any]:
    """Write ``{train,valid,test}.{language}`` into ``folder``, a sentence a line, an empty line after each document.

    Args:
        folder: to write to.
        context: worker processes.
        language: its code.
        root: the user's folder.
        splits: the texts of each split, each a path below ``root``, or ``archive!member``; a document ends at an empty
            line and at the end of a text.
        tokenized: those among them that are tokenised already.
        by_pivot: ``path`` below ``root``, ``files``, ``seed`` and ``hold_out`` of the parallel text, see
            :func:`.pivot.sentences_by_split`. Its sentences are the last document of each split.
        tokenizer, lowercase: how sentences are written.
        sha256: of the files; it only makes the settings of different texts differ.

    Returns:
        For the manifest: ``sources`` (the texts of each split), and ``steps``: how many sentences of train were read,
        and left out because valid or test has them.

    Raises:
        UserError: where a text is missing, or a line is no valid sentence.
    """
    check_whole("data.text.by_pivot.hold_out", by_pivot["hold_out"], least=3)
    parallel = sentences_by_split(**{**by_pivot, "path": str(Path(root) / by_pivot["path"])})
    raw, done = (Finish("data.text", language, how, lowercase) for how in (tokenizer, "none"))
    held_out: set[str] = set()
    counts = Counter[str]()
    for split in ORDER:
        parts = [(done if name in tokenized else raw, _lines_of(root, name)) for name in splits[split]]
        parts.append((raw, iter([*parallel[split], ""])))
        finished = (context.map(finish.lines, chunks(lines, CHUNK)) for finish, lines in parts)
        with (folder / f"{split}.{language}").open("w", encoding="utf-8", newline="\n") as file:
            for line in chain.from_iterable(chain.from_iterable(finished)):
                if split != "train":
                    held_out.add(line)
                elif line:
                    counts["read"] += 1
                    if line in held_out:
                        counts["left out"] += 1
                        continue
                file.write(f"{line}\n")
    steps = {"read": counts["read"], "left_out": {"in valid or test": counts["left out"]}}
    return {"sources": splits, "steps": {"train": steps}}


def _lines_of(root: str, name: str) -> Iterator[str]:
    """Yield the lines of a text, an empty one after each document."""
    path, _, member = name.partition("!")
    for document in documents_of(TextLocation(Path(root) / path, member or None)):
        yield from document
        yield ""
