"""A corpus that someone has tokenised already: a folder with ``{train,valid,test}.{source,target}``."""

from pathlib import Path

from lnexp.corpora.text import SPLITS, read_parallel


def write(folder: Path, *, path: str, source_lang: str, target_lang: str, sha256: str) -> None:
    """Check the files of ``path`` and copy them into ``folder``; ``sha256`` tells the folder's contents apart.

    Raises:
        UserError: for unequal line counts, an empty line or file, bytes that are not UTF-8.
    """
    for split in SPLITS:
        names = f"{split}.{source_lang}", f"{split}.{target_lang}"
        pairs = read_parallel(Path(path) / names[0], Path(path) / names[1])
        for name, lines in zip(names, zip(*pairs, strict=True), strict=True):
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
