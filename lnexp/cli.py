"""What the commands share: a mistake ends in one clear line and a non-zero exit."""

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException
from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException

from lnexp.configuration import compose
from lnexp.errors import UserError, near_names

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130


def overrides_of_the_command_line(description: str, example: str) -> list[str]:
    """The overrides that a command was given; ``--help`` ends it with what it does."""
    parser = argparse.ArgumentParser(description=description, epilog=f"example: {example}")
    parser.add_argument("overrides", nargs="*", help="options of configs/train.yaml, GROUP=NAME or OPTION=VALUE")
    return parser.parse_args().overrides


def add_runs_option(parser: argparse.ArgumentParser) -> None:
    """``--runs``: where run folders lie; it need not be there unless it is said."""
    parser.add_argument(
        "--runs", type=_folder, default=Path("runs"), help="where run folders lie: runs_dir of the runs (default: runs)"
    )


def _folder(path: str) -> Path:
    if not Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"{path}: no such folder")
    return Path(path)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the program with one line on standard error for whatever the user or the machine can mend.

    Everything else is our fault and keeps its traceback; ``LNEXP_TRACEBACK=1`` keeps all of them.
    """
    # Hydra prints its own many lines and exits unless it is asked for the exception itself
    os.environ["HYDRA_FULL_ERROR"] = "1"
    _make_streams_usable()
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # as of head: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_INTERRUPTED)
    except (UserError, HydraException, OmegaConfBaseException, OSError) as error:
        if os.environ.get("LNEXP_TRACEBACK"):
            raise
        print(f"error: {describe(error)}", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)


def _make_streams_usable() -> None:
    """Closed streams lead nowhere, and what a terminal cannot show is shown escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (for as long as the program runs)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def describe(error: Exception) -> str:
    """One line that says what is wrong, with the nearest names where a name is unknown."""
    for said in (error, error.__cause__):  # Hydra wraps what a launcher says of its options
        if isinstance(said, UserError):
            return str(said)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        return f"{group}={name}: no such {group}; {near_names(name, _chosen(error.options or []))}"
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    first_line = str(error).splitlines()[0]
    missing = re.search(r"Missing mandatory value: (\S+)", first_line)
    if missing:
        return f"{missing[1]}: not set; say {missing[1]}=…"
    if isinstance(error, InterpolationResolutionError):
        return first_line.removeprefix("UserError raised while resolving interpolation: ")
    unknown = re.match(r"Could not override '([^']+)'", first_line)
    if isinstance(error, ConfigCompositionException) and unknown:
        return f"{unknown[1]}: no such option; {near_names(unknown[1], _all_options())}"
    return first_line


def _chosen(options: list[str]) -> list[str]:
    """The files of a group that are there to be chosen, not to be built upon."""
    return [option for option in options if not option.startswith("_")]


def _all_options() -> list[str]:
    """Every key of the default config, dotted."""
    names: list[str] = []

    def walk(node, prefix: str) -> None:
        for key in node:
            names.append(f"{prefix}{key}")
            child = node._get_node(key)
            if hasattr(child, "_content") and isinstance(child._content, dict):
                walk(child, f"{prefix}{key}.")

    walk(compose([]), "")
    return names
