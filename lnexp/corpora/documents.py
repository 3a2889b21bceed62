"""Write the text of one language from files of documents or sentences: ``{train,valid,test}.{language}``.

A document ends at an empty line and at the end of a file; the text that is written has an empty line after each, which
is where fairseq's ``complete_doc`` divides blocks. A file of sentences without empty lines is one document.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from lnexp.checks import check_choice, check_whole
from lnexp.corpora.archives import TextLocation
from lnexp.corpora.cleaning import decode_at, flaw, mark_in
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.finish import Finish
from lnexp.corpora.text import SPLITS, chunks
from lnexp.errors import UserError
from lnexp.files import matching

#: Lines that a worker process is given at a time, at least: whole documents, of which some are books.
CHUNK = 4_000

Document = list[str]


def write(
    folder: Path,
    context: PreparationContext,
    *,
    language: str,
    root: str,
    splits: dict[str, list[str]],
    hold_out: int | None,
    tokenizer: Literal["moses", "none"],
    lowercase: bool,
    bad_lines: Literal["refuse", "drop"] = "refuse",
    sha256: str | None = None,
) -> dict[str, Any]:
    """Write ``{train,valid,test}.{language}`` into ``folder``, a sentence a line.

    Args:
        folder: to write to.
        context: worker processes.
        language: its code.
        root: the user's folder.
        splits: the files of each split, as patterns below ``root`` (``**/*.txt``); in order of their names.
        hold_out: of so many documents of train one goes to valid, and the next one to test; None: none do.
        tokenizer, lowercase: how sentences are written.
        bad_lines: what to do with a line that has a control or bidirectional mark: ``refuse`` the corpus, or ``drop``
            the line from its document, in whichever split. Other lines that are no valid sentences are refused: their
            file has another encoding, or has lost its line ends.
        sha256: of the files; it only makes the settings of different texts differ.

    Returns:
        For the manifest: ``sources`` (the files of each split), ``steps`` (the sentences read from them and left out),
        and ``documents`` of each split.

    Raises:
        UserError: where a pattern matches no file, a line is refused, or a split is empty.
    """
    check_choice("data.text.bad_lines", bad_lines, ("refuse", "drop"))
    finish = Finish("data.text", language, tokenizer, lowercase)
    if hold_out is not None:
        check_whole("data.text.hold_out", hold_out, least=3)
    sources = {split: matching(root, splits.get(split) or []) for split in SPLITS}
    counts = Counter[str]()
    steps: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        files = {
            split: stack.enter_context((folder / f"{split}.{language}").open("w", encoding="utf-8", newline="\n"))
            for split in SPLITS
        }
        for split in SPLITS:
            left_out, kept = Counter[str](), 0
            bad = left_out if bad_lines == "drop" else None
            read = (doc for name in sources[split] for doc in documents_of(TextLocation(Path(root) / name), bad))
            finished = context.map(finish.texts, chunks(read, CHUNK, size_of=len))
            for number, document in enumerate(chain.from_iterable(finished), start=1):
                into = _split_of(number, hold_out) if split == "train" else split
                files[into].write("".join(f"{sentence}\n" for sentence in document) + "\n")
                counts[into] += 1
                kept += len(document)
            steps[split] = {"read": kept + left_out.total(), "left_out": dict(sorted(left_out.items()))}
    for split in SPLITS:
        if not counts[split]:
            raise UserError(f"{root}: {split} has no document; see data.text.splits and data.text.hold_out")
    return {"sources": sources, "steps": steps, "documents": dict(counts)}


def _split_of(number: int, hold_out: int | None) -> str:
    """Return the split that a document of train, by its number from 1, belongs to."""
    left = number % hold_out if hold_out else None
    return {0: "valid", 1: "test"}.get(left, "train") if left is not None else "train"


def documents_of(location: TextLocation, left_out: Counter[str] | None = None) -> Iterator[Document]:
    """Yield the documents of a text, each a list of lines.

    Args:
        location: of the text.
        left_out: counts lines with a control or bidirectional mark, and they are left out; None refuses them.

    Raises:
        UserError: for a line that is refused, with its place, or a text that cannot be read.
    """
    document: Document = []
    for number, raw in enumerate(location.lines(), start=1):
        line = decode_at(raw, f"{location}:{number}").strip()
        if left_out is not None and (mark := mark_in(line)):
            left_out[mark] += 1
        elif line:
            if problem := flaw(line):
                raise UserError(f"{location}:{number}: {problem}")
            document.append(line)
        elif document:
            yield document
            document = []
    if document:
        yield document
