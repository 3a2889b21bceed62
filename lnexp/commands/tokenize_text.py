"""Run ``scripts/tokenize_text.py``: tokenise files as Moses does."""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from lnexp.cli import Parser, one_line_errors
from lnexp.corpora.archives import TextLocation
from lnexp.corpora.cleaning import decode
from lnexp.corpora.markup import FORMS, detect_form
from lnexp.corpora.moses import lowercase, missing_rules_warning, moses_tokenizer
from lnexp.corpora.text import chunks
from lnexp.errors import UserError

LINES = 2_000
FORM_HELP = "plain lines, the segments of a campaign's XML or SGML, or IWSLT's train.tags"


def main() -> None:
    """Tokenise files as Moses does, and print one tokenised line for each sentence."""
    arguments = command_line().parse_args()
    with one_line_errors():
        if warning := missing_rules_warning(arguments.lang):
            print(warning, file=sys.stderr)
        tokenize = moses_tokenizer(arguments.lang).tokenize
        lines = chain.from_iterable(_lines(path, arguments.form) for path in arguments.files)
        for chunk in chunks(lines, LINES):
            done = tokenize(chunk)
            for line in map(lowercase, done) if arguments.lowercase else done:
                sys.stdout.buffer.write(f"{line}\n".encode())


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="text, plain or compressed")
    parser.add_argument("--lang", required=True, help="language code, such as de or en")
    parser.add_argument("--lowercase", action="store_true", help="lower-case as Moses' lowercase.perl")
    parser.add_argument("--form", choices=["auto", *FORMS], default="auto", help=FORM_HELP)
    return parser


def _lines(path: Path, form: str) -> Iterator[str]:
    location = TextLocation(path)
    raw = FORMS[detect_form(location.lines()) if form == "auto" else form](location.lines())
    for number, line in enumerate(raw, start=1):
        try:
            yield decode(line)
        except UnicodeDecodeError as error:
            raise UserError(f"{path}:{number}: not UTF-8 (byte {error.start + 1} of the line)") from None
