"""``metrics.jsonl``: what a run measured, one JSON object a line.

Every record has ``kind`` first.

``epoch``, after each epoch (or after a last, partial one):

=================== ============================================================================================
epoch               from 1
update              updates made so far
valid_loss          label-smoothed cross-entropy on the whole validation set, nats a target token
valid_nll           negative log-likelihood there, nats a target token
valid_bleu          sacreBLEU, 0 to 100, of detokenised translations of the first ``n_sentences`` of valid
bleu_signature      sacreBLEU's own signature
n_sentences         sentences translated
beam                beam size they were translated with
whole_valid_bleu    as ``valid_bleu``, of all of valid; at the epochs that ``evaluation.whole_valid_every`` asks for
whole_n_sentences   sentences of that
train_loss          label-smoothed cross-entropy over the epoch's updates, nats a target token
lr                  learning rate of the epoch's last update
grad_norm           Euclidean norm of the gradient before clipping, mean over the epoch's updates
seconds             time of the epoch's training, without its validation
tokens_per_second   target tokens trained on, a second of that
members             of how many runs the array consisted that this one was trained in; absent where it was none
time                when it was recorded, UTC, ISO 8601
=================== ============================================================================================

``probe``, before the first update and every ``probes.every`` updates: ``epoch``, ``update``, ``side`` (``encoder`` or
``decoder``), ``layer`` (from 1), and either, for each FFN matrix, ``parameter`` (``W1`` or ``W2``), ``grad_norm``, the
Frobenius norm of the expected gradient over ``probes.batches`` minibatches of the loss a token, and
``mean_grad_norm``, the mean of their norms; or, once a layer, ``output`` and ``before_norm``, the mean of ‖x‖²/d over
their positions behind the layer and before its last LayerNorm.

``end``, once, after the test set was translated with the checkpoint of ``checkpoint_epoch`` (the least ``valid_nll``;
of a diverged run the last that decodes): ``test_bleu`` (detokenised) and ``test_bleu_tokenised``, each with its
signature, ``n_sentences``, ``beam``. Both BLEU are null where no checkpoint decodes. Where ``evaluation.average_last``
asks for it, and the run has not diverged, also those of the average of the last checkpoints: ``averaged_test_bleu``,
``averaged_test_bleu_tokenised`` and their ``averaged_epochs``.

A number that is not finite is null.
"""

import json
import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.files import write_whole

Record = dict[str, Any]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_line(record: Record) -> str:
    """One record as a line of JSON, ``kind`` first."""
    ordered = {"kind": record["kind"], **record}
    return json.dumps({key: _finite(value) for key, value in ordered.items()}) + "\n"


def append(path: Path, record: Record) -> None:
    """Append a record in one write; a kill leaves at most an unfinished last line, which :func:`read` passes over."""
    with path.open("a", encoding="utf-8") as file:
        file.write(to_line(record))


def read(path: Path) -> list[Record]:
    """All whole records of a file; none where it does not exist. What is not finite is None.

    Raises:
        UserError: for a line other than an unfinished last one that is no record (the line is named).
    """
    if not path.exists():
        return []
    *lines, _unfinished = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    try:
        found = [_checked(record) for record in _parse(f"[{','.join(lines)}]")]  # at once: their keys are then shared
        if len(found) == len(lines):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError(f"{path}:{_first_bad(lines)}: not a record; force=true trains the run afresh")


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=lambda name: None)  # NaN and Infinity, which are no JSON


def _first_bad(lines: list[str]) -> int:
    """The number of the first line, from 1, that is no record."""
    for number, line in enumerate(lines, start=1):
        try:
            _checked(_parse(line))
        except (ValueError, KeyError, TypeError):
            return number
    return len(lines)


#: What records say as a number, or as null where it was not finite.
NUMBERS = {"epoch": ("valid_loss", "valid_nll", "valid_bleu", "lr", "seconds"), "end": ("test_bleu",)}
#: What only some of them say.
AT_TIMES = {
    "epoch": ("whole_valid_bleu", "train_loss", "grad_norm", "tokens_per_second"),
    "end": ("averaged_test_bleu", "averaged_test_bleu_tokenised", "test_bleu_tokenised", "checkpoint_epoch"),
}


def _checked(record: Any) -> Record:
    """The record itself. Raises ValueError, KeyError or TypeError where it is none."""
    kind = record["kind"]
    for key in (*NUMBERS.get(kind, ()), *(key for key in AT_TIMES.get(kind, ()) if key in record)):
        value = record[key]
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ValueError(f"{key} is no number")
        if value is not None and "bleu" in key and not 0 <= value <= 100:
            raise ValueError(f"{key} is no BLEU")
    if record["kind"] == "epoch" and not (isinstance(record["epoch"], int) and isinstance(record["update"], int)):
        raise ValueError("epoch or update is no whole number")
    if "time" in record:
        datetime.fromisoformat(record["time"])
    return record


def seconds(epochs: Iterable[Record]) -> float:
    """The time that epochs were trained for, in seconds, to the tenth: published runs are known by it."""
    return round(sum(record["seconds"] or 0 for record in epochs), 1)


def keep_until(path: Path, epoch: int, update: int) -> None:
    """Drop what was recorded after ``epoch``, or after an ``update`` within the next one, and an unfinished last line.

    Two zeros drop everything.
    """
    before = [record for record in read(path) if record["kind"] != "end"]
    kept = [record for record in before if record["epoch"] <= epoch or (update and record["update"] <= update)]
    write_whole(path, "".join(map(to_line, kept)))
