"""Have ``fairseq-train --arch lnexp_pre_ln … --help`` list the options of this model, its optimizer and its schedule.

fairseq answers ``--help`` before it has read which ones are meant, and so lists the options of none.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import wraps
from typing import Any

from fairseq import options

HELP = {"-h", "--help"}


def answer_help_last() -> None:
    """Make fairseq answer ``--help`` when it has added the options of the chosen model, task and the others."""
    parse = options.parse_args_and_arch
    if hasattr(parse, "__wrapped__"):
        return

    @wraps(parse)
    def parse_args_and_arch(parser: ArgumentParser, input_args: Sequence[str] | None = None, **how: Any) -> Any:
        words = list(sys.argv[1:] if input_args is None else input_args)
        if HELP & set(words):
            words = [word for word in words if word not in HELP]
            _help_in_place_of_missing_words(parser)
            parse(parser, words, **how)
            _show_help(parser)
        return parse(parser, words, **how)

    options.parse_args_and_arch = parse_args_and_arch


def _help_in_place_of_missing_words(parser: ArgumentParser) -> None:
    """Have a parser show its help where it would say that DATA is missing; a wrong choice stays an error."""
    error = parser.error

    def show_help_or_error(message: str) -> None:
        if message.startswith("the following arguments are required"):
            _show_help(parser)
        error(message)

    parser.error = show_help_or_error  # type: ignore[assignment,method-assign]


def _show_help(parser: ArgumentParser) -> None:
    parser.print_help()
    parser.exit()
