"""Run ``scripts/translate.py``: translate sentences by a trained run."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf
from tabulate import tabulate

from lnexp.checks import check_whole
from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.corpora.cleaning import decode_at
from lnexp.corpora.prepare import corpus_folder
from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.processes import one_quiet_thread, without_garbage_collection
from lnexp.runs.code import other_code_warning
from lnexp.runs.find import find_run
from lnexp.runs.folder import RunFolder
from lnexp.tasks.translation.corpus_of_run import corpus_of_run

if TYPE_CHECKING:
    from lnexp.tasks.translation.translator import Translator


#: Options of a run that its translations depend on.
NEEDED = (
    "data_dir", "data.name", "data.source_lang", "data.target_lang", "data.text", "data.subword",
    "data.joined_dictionary", "evaluation.test_beam", "evaluation.max_tokens", "evaluation.lenpen",
    "evaluation.max_len_a", "evaluation.max_len_b",
)  # fmt: skip
#: No wider beam is of use, and one of a config of others could fill a memory.
WIDEST_BEAM = 1000


def main() -> None:
    """``translate.py RUN [SENTENCE …]``: translate sentences, or lines of standard input, by a trained run."""
    parser = Parser(description="Translate sentences, or lines of standard input, by a trained run.")
    parser.add_argument("run", help="its folder, the beginning of its identity, or a part of its name")
    parser.add_argument("sentences", nargs="*", help="none: lines of standard input, until it ends")
    parser.add_argument("--beam", type=int, help="beam size (default: the run's own for its test)")
    add_runs_option(parser)
    parser.add_argument("--data-dir", help="where prepared corpora lie, and the run's is prepared where it is missing")
    parser.add_argument("--table", type=Path, help="write a Markdown table of sentences and translations there, too")
    arguments = parser.parse_intermixed_args()
    with one_line_errors():
        folder = find_run(arguments.run, arguments.runs)
        cfg = _config(folder)
        beam = cfg.evaluation.test_beam if arguments.beam is None else arguments.beam
        check_whole("--beam", beam, least=1, most=WIDEST_BEAM)
        if warning := other_code_warning(folder):
            print(warning, file=sys.stderr)
        one_quiet_thread()
        corpus = corpus_of_run(cfg, folder, arguments.data_dir or _where_it_lies(cfg))
        with without_garbage_collection():
            from lnexp.tasks.translation.translator import Translator
        translator = Translator(cfg, folder, corpus)
        print(f"{folder.name}, epoch {translator.epoch}, beam {beam}", file=sys.stderr)
        pairs: list[tuple[str, str]] = []
        for batch in [arguments.sentences] if arguments.sentences else _typed(cfg.data.source_lang):
            pairs += _tell(translator, batch, beam)
        if arguments.table:
            made_by = f"Run `{folder.name}`, the checkpoint of epoch {translator.epoch}, beam {beam}."
            rows = [[side.replace("|", r"\|") for side in pair] for pair in pairs]
            write_whole(arguments.table, f"{made_by}\n\n{tabulate(rows, _languages(cfg), tablefmt='github')}\n")


def _languages(cfg: DictConfig) -> tuple[str, str]:
    return cfg.data.source_lang, cfg.data.target_lang


def _tell(translator: "Translator", sentences: list[str], beam: int) -> list[tuple[str, str]]:
    """Print the translation of each sentence, a blank line for a blank one, and return the others beside their own."""
    said = [sentence for sentence in sentences if sentence.strip()]
    translated = list(zip(*translator.translate(said, beam), strict=True)) if said else []
    waiting = iter(translated)
    for sentence in sentences:
        translation, unknown = next(waiting) if sentence.strip() else ("", [])
        if unknown:
            print(f"never seen in training: {' '.join(unknown)}", file=sys.stderr)
        print(translation, flush=True)
    return [(sentence, translation) for sentence, (translation, _) in zip(said, translated, strict=True)]


def _config(folder: RunFolder) -> DictConfig:
    """Return a run's config. Raises UserError where it is missing, malformed, not whole, or of another task."""
    if folder.config:
        if (task := folder.config.get("task", "translation")) != "translation":
            raise UserError(f"{folder.name}: is of task={task}, and only task=translation translates")
        return OmegaConf.create(folder.config_with(NEEDED))
    raise UserError(f"{folder.path}: has no config; the run has not begun")


def _where_it_lies(cfg: DictConfig) -> str:
    """Return the run's own ``data_dir``, if its corpus is there: a folder of runs, which others may have written, has
    nothing downloaded or made. Raises UserError where it is not.
    """
    corpus = corpus_folder(cfg.data, cfg.data_dir)
    if not corpus.is_dir():
        raise UserError(f"{corpus}: no such corpus; --data-dir=… says where it is, or is to be prepared")
    return str(cfg.data_dir)


def _typed(language: str) -> Iterator[list[str]]:
    """Yield lines of standard input one by one; on a terminal, ask for them."""
    if sys.stdin.isatty():
        yield from _asked_for(f"{language}> ")
        return
    for number, line in enumerate(sys.stdin.buffer, start=1):
        yield [decode_at(line, f"standard input:{number}").strip()]


def _asked_for(prompt: str) -> Iterator[list[str]]:
    import readline  # noqa: F401  (arrow keys and a history, for input)

    with suppress(EOFError):
        while True:
            if line := input(prompt).strip():
                yield [line]
