"""Share what all commands do: read overrides, and end a mistake in one line and a non-zero exit code."""

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from lnexp.errors import UserError, first_line, near_names
from lnexp.extensions import in_extension
from lnexp.numerics import FIRST, NUMERICS
from lnexp.paths import CONFIG_DIR, LOCAL_RESULTS_DIR, RESULTS_DIR, RUNS_DIR, files_of_group
from lnexp.printable import printable

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
#: Groups of options whose files users add.
EXTENDED = ("model", "optimizer", "lr_schedule", "intervention")


class Parser(argparse.ArgumentParser):
    """The parser of every command: what it cannot read is one line on standard error, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USER_ERROR, f"error: {printable(refusal(self, message))}\n")


def refusal(parser: argparse.ArgumentParser, message: str) -> str:
    """Return what is said to who typed what a parser does not read, with the nearest options to one that it lacks."""
    unknown = re.match(r"unrecognized arguments: (--[^ =]+)", message)
    options = _options(parser)
    near = f"; {near_names(unknown[1], options)}" if unknown and options else ""
    return f"{message}{near}; --help lists the options"


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the long options of a parser, without ``--help``, which every message names."""
    names = [option for action in parser._actions for option in action.option_strings]
    return [name for name in names if name.startswith("--") and name != "--help"]


def overrides_parser(description: str, example: str) -> Parser:
    """Return a parser of ``overrides``, with a description and an example for ``--help``."""
    parser = Parser(description=description, epilog=f"example: {example}")
    parser.add_argument("overrides", nargs="*", help="GROUP=NAME or OPTION=VALUE; scripts/train.py --help lists them")
    return parser


def overrides_of_the_command_line(description: str, example: str) -> list[str]:
    """Return the overrides that a command was given; ``--help`` prints the description and the example, and exits."""
    return overrides_parser(description, example).parse_args().overrides


def add_runs_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--runs``, where run folders lie, to a command."""
    parser.add_argument(
        "--runs", type=_folder, default=RUNS_DIR, help="where run folders lie: runs_dir of the runs (default: runs)"
    )


def add_results_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--results`` and ``--publish``, where results go, to a command; ``results`` is None where none is said."""
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--results", type=Path, help=f"where results go (default: {LOCAL_RESULTS_DIR}/, out of git)")
    places.add_argument(
        "--publish",
        dest="results",
        action="store_const",
        const=RESULTS_DIR,
        help=f"move those of recipes into the published ones in {RESULTS_DIR}/, as publish.py does",
    )


def add_numerics_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--numerics``, the version that a recipe's runs were trained with, to a command."""
    parser.add_argument(
        "--numerics",
        type=int,
        choices=range(FIRST, NUMERICS + 1),
        default=NUMERICS,
        help="take the runs of a recipe that older code trained, with this version of the numerics (default: today's)",
    )


def _folder(path: str) -> Path:
    """Return the path of a folder that must exist. argparse does not ask this of the default."""
    if not Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"{path}: no such folder")
    return Path(path)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the program with one line on standard error for what is wrong with the input or the machine.

    So it does where a file that users add has raised an exception. Others are faults of the program and keep their
    traceback; ``LNEXP_TRACEBACK=1`` keeps all of them.
    """
    # otherwise Hydra prints many lines of its own and exits
    os.environ["HYDRA_FULL_ERROR"] = "1"
    _make_streams_usable()
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted; the same command resumes from here", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader has closed the pipe, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        named = in_extension(error)
        if os.environ.get("LNEXP_TRACEBACK") or not (named or is_a_mistake(error)):
            raise
        print(f"error: {printable(describe(named or error))}", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)


def is_a_mistake(error: Exception) -> bool:
    """Return whether an error is about the input or the machine, and not a fault of the program."""
    from hydra.errors import HydraException  # here, for Hydra takes a quarter of a second to import
    from omegaconf.errors import OmegaConfBaseException

    return isinstance(error, UserError | HydraException | OmegaConfBaseException | OSError)


def _make_streams_usable() -> None:
    """Replace closed streams by the null device, and escape what a terminal cannot show."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (for as long as the program runs)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def describe(error: Exception) -> str:
    """Return one line that says what is wrong, with the nearest names where a name is unknown."""
    from hydra.errors import ConfigCompositionException, MissingConfigException
    from omegaconf.errors import InterpolationResolutionError

    from lnexp.options.common import LABELS

    for raised in (error, error.__cause__):  # Hydra wraps what a launcher raises for its options
        if isinstance(raised, UserError):
            return str(raised)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        return f"{group}={name}: no such {group}; {near_names(name, _choices(error.options or []))}"
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    said = first_line(error)
    missing = re.search(r"Missing mandatory value: (\S+)", said)
    if missing:
        return f"{missing[1]}: not set; say {missing[1]}=…"
    if isinstance(error, InterpolationResolutionError):
        return said.removeprefix("UserError raised while resolving interpolation: ")
    unknown = re.match(r"Could not override '([^']+)'", said)
    if isinstance(error, ConfigCompositionException) and unknown and unknown[1] in [row.name for row in LABELS]:
        return f"{unknown[1]}=…: is added, so say +{unknown[1]}=…"
    if isinstance(error, ConfigCompositionException) and unknown:
        return f"{unknown[1]}: no such option; {near_names(unknown[1], _all_options())}{_where_to_list(unknown[1])}"
    if re.search(r"=[\"']?~/", said):
        return f"{said}; ~ is not expanded behind =, say $HOME"
    return said


def _where_to_list(option: str) -> str:
    """Return a clause on the file of a group of :data:`EXTENDED` that must list an option of a user's own part."""
    group, _, name = option.partition(".")
    if group not in EXTENDED or not name:
        return ""
    file = [stem for stem in sorted(files_of_group(group), key=len) if name.startswith(f"{stem}_")] or ["NAME"]
    return f"; one of your own must be listed in configs/{group}/{file[-1]}.yaml"


def _choices(options: list[str]) -> list[str]:
    """Return the files of a group that can be chosen; those that begin with ``_`` are parts of others."""
    return [option for option in options if not option.startswith("_")]


def _all_options() -> list[str]:
    """Return every key of the default config, dotted, and those of the files of groups of options."""
    from omegaconf import OmegaConf

    from lnexp.configuration import compose

    names: list[str] = []
    for group in EXTENDED:
        for path in (CONFIG_DIR / group).glob("*.yaml"):
            names += [f"{group}.{key!s}" for key in OmegaConf.load(path) if key not in ("defaults", "_name")]

    def walk(node, prefix: str) -> None:
        for key in node:
            names.append(f"{prefix}{key}")
            child = node._get_node(key)
            if hasattr(child, "_content") and isinstance(child._content, dict):
                walk(child, f"{prefix}{key}.")

    walk(compose([]), "")
    return list(dict.fromkeys(names))
