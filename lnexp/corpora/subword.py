"""Subword segmentation of a folder of tokenised text. One function a method."""

from pathlib import Path

from lnexp.corpora.text import SPLITS, read_lines


def none(folder: Path, languages: list[str]) -> None:
    """Words stay whole."""


def subword_nmt(folder: Path, languages: list[str], *, merges: int) -> None:
    """Joint byte-pair encoding (Sennrich et al. 2016) with subword-nmt, learned on both sides of train.

    Rewrites ``{train,valid,test}.{language}`` in ``folder`` and leaves the merges in ``bpe.codes``.
    """
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    codes = folder / "bpe.codes"
    text = [line for language in languages for line in read_lines(folder / f"train.{language}")]
    with codes.open("w", encoding="utf-8") as file:
        learn_bpe(text, file, num_symbols=merges)
    with codes.open(encoding="utf-8") as file:
        bpe = BPE(file)
    for split in SPLITS:
        for language in languages:
            path = folder / f"{split}.{language}"
            path.write_text("".join(f"{bpe.process_line(line)}\n" for line in read_lines(path)), encoding="utf-8")
