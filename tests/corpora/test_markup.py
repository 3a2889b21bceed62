"""Sentences are extracted from markup by the rules of the original script."""

import pytest

from lnexp.corpora.markup import FORMS, detect_form

XML = """<?xml version="1.0" encoding="UTF-8"?>
<mteval>
<doc docid="69" genre="lectures">
<url>http://www.ted.com/</url>
<title>A title</title>
<seg id="1"> I’m R&amp;D. </seg>
  <seg id="2">Two</seg>
</doc>
</mteval>""".encode().split(b"\n")

TAGS = b"""<url>http://www.ted.com/</url>
<keywords>talks</keywords>
<speaker>Somebody</speaker>
<talkid>1</talkid>
<title>A title</title>
<description>What it is about</description>
 A sentence.
Another\xe2\x80\x99s.""".split(b"\n")


def test_segments_keep_entities_and_straighten_apostrophes():
    assert list(FORMS["segments"](XML)) == [b"I'm R&amp;D.", b"  Two"]


def test_tags_leave_title_and_description_and_what_the_script_does_not_know():
    assert list(FORMS["tags"](TAGS)) == [
        b"<speaker>Somebody</speaker>",
        b"A title",
        b"What it is about",
        b" A sentence.",
        "Another’s.".encode(),
    ]


@pytest.mark.parametrize(
    ("lines", "form"),
    [
        (XML, "segments"),
        (XML[2:], "segments"),
        ([b"\xef\xbb\xbf" + XML[0], *XML[1:]], "segments"),
        (TAGS, "tags"),
        ([b"A sentence", b"<seg id"], "lines"),
        ([b"<b> is a tag"], "lines"),
        ([], "lines"),
    ],
)
def test_a_form_is_recognised(lines, form):
    assert detect_form(lines) == form
