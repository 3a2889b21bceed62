"""How sentences stand in a file: one a line, or within the mark-up of the evaluation campaigns.

The rules are those of fairseq's ``prepare-iwslt14.sh``, line by line, for every published IWSLT14 number hangs on them:
entities stay as they are, and only within segments is a typographic apostrophe made a straight one.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

SEGMENT_START = re.compile(rb'<seg id="[0-9]*">\s*')
SEGMENT_END = re.compile(rb"\s*</seg>\s*")
APOSTROPHE = "’".encode()
BYTE_ORDER_MARK = codecs.BOM_UTF8
#: Lines from which the form of a file is told.
LOOKED_AT = 50
NO_SENTENCES = (b"<url>", b"<talkid>", b"<keywords>")
KEPT_TAGS = re.compile(rb"</?(?:title|description)>")


def lines(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Plain text: a sentence a line."""
    return iter(raw)


def segments(raw: Iterable[bytes]) -> Iterator[bytes]:
    """``<seg id="1"> … </seg>``: the XML of IWSLT, the SGML of WMT."""
    for line in raw:
        if b"<seg id" in line:
            line = SEGMENT_END.sub(b"", SEGMENT_START.sub(b"", line))
            yield line.replace(APOSTROPHE, b"'")


def tags(raw: Iterable[bytes]) -> Iterator[bytes]:
    """IWSLT's ``train.tags``: a sentence a line, between lines about the talk, of which title and description count."""
    for line in raw:
        if not any(tag in line for tag in NO_SENTENCES):
            yield KEPT_TAGS.sub(b"", line)


FORMS: dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {"lines": lines, "segments": segments, "tags": tags}


def form_of(raw: Iterable[bytes]) -> str:
    """The form of a file by its first lines: a campaign's documents begin with mark-up."""
    head = [line.removeprefix(BYTE_ORDER_MARK).lstrip() for line in islice(raw, LOOKED_AT)]
    if not head or not head[0].startswith(b"<"):
        return "lines"
    if any(line.startswith(b"<seg id") for line in head):
        return "segments"
    return "tags" if head[0].startswith((b"<url>", b"<doc")) else "lines"
