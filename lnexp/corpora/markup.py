"""Extract sentences from plain text and from the markup of the evaluation campaigns (IWSLT, WMT).

The rules are exactly those of fairseq's ``prepare-iwslt14.sh``, because all published IWSLT14 numbers depend on them:
entities are kept, and typographic apostrophes become straight ones within segments only.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

SEGMENT_START = re.compile(rb'<seg id="[0-9]*">\s*')
SEGMENT_END = re.compile(rb"\s*</seg>\s*")
APOSTROPHE = "’".encode()
BYTE_ORDER_MARK = codecs.BOM_UTF8
#: Number of lines that decide the form of a file.
LOOKED_AT = 50
NO_SENTENCES = (b"<url>", b"<talkid>", b"<keywords>")
KEPT_TAGS = re.compile(rb"</?(?:title|description)>")


def lines(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the sentences of plain text, one a line."""
    return iter(raw)


def segments(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the sentences of ``<seg id="1"> … </seg>``, as in the XML of IWSLT and the SGML of WMT."""
    for line in raw:
        if b"<seg id" in line:
            line = SEGMENT_END.sub(b"", SEGMENT_START.sub(b"", line))
            yield line.replace(APOSTROPHE, b"'")


def tags(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the sentences of IWSLT's ``train.tags``: one a line; of the talks' metadata, title and description."""
    for line in raw:
        if not any(tag in line for tag in NO_SENTENCES):
            yield KEPT_TAGS.sub(b"", line)


#: The forms that configs and commands name.
FORMS: dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {"lines": lines, "segments": segments, "tags": tags}


def detect_form(raw: Iterable[bytes]) -> str:
    """Return the form of a file, a key of ``FORMS``, by its first lines."""
    head = [line.removeprefix(BYTE_ORDER_MARK).lstrip() for line in islice(raw, LOOKED_AT)]
    if not head or not head[0].startswith(b"<"):
        return "lines"
    if any(line.startswith(b"<seg id") for line in head):
        return "segments"
    return "tags" if head[0].startswith((b"<url>", b"<doc")) else "lines"
