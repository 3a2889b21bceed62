"""Tables for wandb: sample translations by epoch, gradients by layer."""

from collections.abc import Sequence
from typing import Any

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record

#: Sentences of valid whose translations are shown.
SAMPLES = 8
SAMPLE_COLUMNS: list[str | int] = ["epoch", "sentence", "source", "reference", "hypothesis"]
GRADIENT_COLUMNS: list[str | int] = ["update", "side", "layer", "parameter", "grad_norm", "line"]


def samples(folder: RunFolder, corpus: PreparedCorpus, languages: tuple[str, str], epoch: int) -> list[Any]:
    """The first sentences of valid as every epoch until ``epoch`` translated them, tokenised."""
    sources, references = (corpus.lines("valid", language)[:SAMPLES] for language in languages)
    return [
        [number, place, source, reference, hypothesis]
        for number in range(1, epoch + 1)
        for place, (source, reference, hypothesis) in enumerate(
            zip(sources, references, folder.hypotheses(f"valid.epoch{number}"), strict=False), start=1
        )
    ]


def gradients(probes: Sequence[Record], parameter: str | None = None) -> list[Any]:
    """A row for every gradient that was looked at along training, of all FFN matrices or of one."""
    return [
        [
            record["update"],
            record["side"],
            record["layer"],
            record["parameter"],
            record["grad_norm"],
            f"{record['side']}, update {record['update']}",
        ]
        for record in probes
        if record.get("parameter") and parameter in (None, record["parameter"])
    ]
