"""Measure the speed of preparing raw text against sacremoses' tokeniser alone, on equally many processes."""

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

from lnexp.benchmarks.alternation import AlternatingRates
from lnexp.benchmarks.page import markdown
from lnexp.configuration import compose
from lnexp.corpora.language_pair import file_pair
from lnexp.corpora.prepare import prepare
from lnexp.corpora.text import SPLITS, chunks
from lnexp.processes import available_cores

ROUNDS = 3
#: Sizes and seed of the random text that is used where the overrides name no raw text.
PAIRS, WORD_TYPES, SEED = 200_000, 80_000, 0
CHUNK = 2_000


def table(overrides: list[str]) -> str:
    """Return both medians, in pairs per second, and the median ratio of neighbouring rounds, as a Markdown table."""
    with ExitStack() as stack:
        here = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data, name = _raw_corpus(overrides, here)
        lines = _lines(data)
        pairs = sum(map(len, lines.values())) / 2
        _prepare(data, here / "warm-up", 1)
        rates = [(_prepare(data, here / str(turn), pairs), _tokenise(lines, pairs)) for turn in range(ROUNDS)]
    compared = AlternatingRates([ours for ours, _ in rates], [theirs for _, theirs in rates])
    ours, theirs = compared.medians
    row = [name, f"{pairs:,.0f}", f"{ours:,.0f}", f"{theirs:,.0f}", f"{compared.ratio:.2f}", str(available_cores())]
    return markdown(("text", "pairs", "lnexp, all steps", "sacremoses alone", "ratio", "processes"), [row])


def _raw_corpus(overrides: list[str], here: Path) -> tuple[DictConfig, str]:
    """Return config and name of the corpus: the user's raw text where the overrides name one, else random text."""
    data = compose(overrides).data
    if data.text.get("root") and data.text.tokenizer == "moses":
        return data, data.name
    _write_random_text(here / "text")
    return compose(["data=plain", f"data.path={here / 'text'}"]).data, "made up"


def _write_random_text(folder: Path) -> None:
    """Write text with what a tokeniser must handle: words by Zipf's law, punctuation, abbreviations, numbers."""
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
    """Return the raw lines of each language."""
    files = [file for split in SPLITS for file in data.text.splits[split]]
    pairs = [file_pair(file, data.text.root, {}) for file in files]
    return {
        language: [line.decode() for line in chain.from_iterable(pair[index].lines() for pair in pairs)]
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
