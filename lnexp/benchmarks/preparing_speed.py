"""Sentence pairs a second of preparing raw text, against sacremoses' own tokeniser alone on as many processes."""

import random
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path

import sacremoses
from omegaconf import DictConfig

from lnexp.benchmarks.alternation import Rounds
from lnexp.benchmarks.markdown import markdown
from lnexp.configuration import compose
from lnexp.corpora.language_pair import sides_of
from lnexp.corpora.prepare import prepare
from lnexp.corpora.text import SPLITS, chunks
from lnexp.processes import available_cores

ROUNDS = 3
#: Of the text that is made up where no raw text is given.
PAIRS, WORD_TYPES, SEED = 200_000, 80_000, 0
CHUNK = 2_000


def table(overrides: list[str]) -> str:
    """Medians of both sides and the median ratio of neighbouring rounds, as a Markdown table."""
    with ExitStack() as stack:
        here = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data, what = _raw_corpus(overrides, here)
        lines = _lines(data)
        pairs = sum(map(len, lines.values())) / 2
        _prepare(data, here / "warm-up", 1)
        sides = [(_prepare(data, here / str(turn), pairs), _tokenise(lines, pairs)) for turn in range(ROUNDS)]
    rounds = Rounds([ours for ours, _ in sides], [theirs for _, theirs in sides])
    ours, theirs = rounds.medians
    row = [what, f"{pairs:,.0f}", f"{ours:,.0f}", f"{theirs:,.0f}", f"{rounds.ratio:.2f}", str(available_cores())]
    return markdown(("text", "pairs", "lnexp, all steps", "sacremoses alone", "ratio", "processes"), [row])


def _raw_corpus(overrides: list[str], here: Path) -> tuple[DictConfig, str]:
    """The corpus of the overrides where it is raw text of the user's, else one that is made up."""
    data = compose(overrides).data
    if data.text.get("root") and data.text.tokenizer == "moses":
        return data, data.name
    _make_up(here / "text")
    return compose(["data=plain", f"data.path={here / 'text'}"]).data, "made up"


def _make_up(folder: Path) -> None:
    """Text with what keeps a tokeniser busy: words by Zipf's law, punctuation, abbreviations, numbers."""
    folder.mkdir()
    choose = random.Random(SEED)
    letters = "eeennniiisssrrraaattdhulcgmobwfkzpvjyäöüß"
    types = ["".join(choose.choices(letters, k=choose.randint(2, 12))) for _ in range(WORD_TYPES)]
    types = [word.capitalize() if choose.random() < 0.3 else word for word in types]
    weights = list(accumulate(1 / rank for rank in range(1, WORD_TYPES + 1)))
    marks = ["", ",", '"', "'s", ")", "-x", " 5,300", " z.B."]
    of_marks = list(accumulate([85, 6, 2, 1, 1, 3, 1.5, 0.5]))
    for split, count in zip(SPLITS, (PAIRS, 1_000, 1_000), strict=True):
        lengths = [choose.randint(5, 25) for _ in range(count)]
        for language in ("de", "en"):
            with (folder / f"{split}.{language}").open("w", encoding="utf-8") as file:
                for length in lengths:
                    words = choose.choices(types, cum_weights=weights, k=length)
                    ends = choose.choices(marks, cum_weights=of_marks, k=length)
                    file.write(" ".join(map(str.__add__, words, ends)) + ".\n")


def _lines(data: DictConfig) -> dict[str, list[str]]:
    """The raw lines of each language."""
    files = [file for split in SPLITS for file in data.text.splits[split]]
    sides = [sides_of(file, data.text.root, {}) for file in files]
    return {
        language: [line.decode() for line in chain.from_iterable(pair[index].lines() for pair in sides)]
        for index, language in enumerate((data.source_lang, data.target_lang))
    }


def _prepare(data: DictConfig, where: Path, pairs: float) -> float:
    start = time.perf_counter()
    prepare(data, where)
    return pairs / (time.perf_counter() - start)


def _tokenise(lines: dict[str, list[str]], pairs: float) -> float:
    work = [(language, chunk) for language, side in lines.items() for chunk in chunks(side, CHUNK)]
    start = time.perf_counter()
    with ProcessPoolExecutor(available_cores()) as pool:
        for _ in pool.map(_tokenise_chunk, work):
            pass
    return pairs / (time.perf_counter() - start)


@lru_cache
def _tokenizer(language: str) -> sacremoses.MosesTokenizer:
    return sacremoses.MosesTokenizer(language)


def _tokenise_chunk(work: tuple[str, list[str]]) -> list[str]:
    language, lines = work
    return [_tokenizer(language).tokenize(line, aggressive_dash_splits=False, return_str=True) for line in lines]
