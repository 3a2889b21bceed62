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
train_loss          label-smoothed cross-entropy over the epoch's updates, nats a target token
lr                  learning rate of the epoch's last update
grad_norm           Euclidean norm of the gradient before clipping, mean over the epoch's updates
seconds             time of the epoch's training, without its validation
tokens_per_second   target tokens trained on, a second of that
=================== ============================================================================================

``end``, once, after the test set was translated with the checkpoint of ``checkpoint_epoch`` (the least ``valid_nll``;
of a diverged run the last that decodes): ``test_bleu`` (detokenised) and ``test_bleu_tokenised``, each with its
signature, ``n_sentences``, ``beam``. Both BLEU are null where no checkpoint decodes.

A number that is not finite is null.
"""

import json
import math
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
    """All whole records of a file; none where it does not exist.

    Raises:
        UserError: for a line other than the last that is no JSON object (the line is named).
    """
    if not path.exists():
        return []
    *lines, _unfinished = path.read_text(encoding="utf-8").split("\n")
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            record["kind"]
        except (json.JSONDecodeError, KeyError, TypeError):
            raise UserError(f"{path}:{number}: not a record; force=true trains the run afresh") from None
        records.append(record)
    return records


def keep_until_epoch(path: Path, epoch: int) -> None:
    """Drop what was recorded after ``epoch``, an unfinished last line included; 0 drops everything."""
    kept = [record for record in read(path) if record["kind"] != "end" and record["epoch"] <= epoch]
    write_whole(path, "".join(map(to_line, kept)))
