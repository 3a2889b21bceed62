"""Read, check and append the records of a run: ``metrics.jsonl``, one JSON object a line.

Every record has ``kind`` first. Its task adds fields of its own, see for instance :mod:`lnexp.tasks.translation`.

``epoch``, after each epoch (or after a last, partial one):

=================== ============================================================================================
epoch               from 1
update              updates made so far
valid_loss          label-smoothed cross-entropy on the whole validation set, nats a target token
valid_nll           negative log-likelihood there, nats a target token
train_loss          label-smoothed cross-entropy over the epoch's updates, nats a target token
lr                  learning rate of the epoch's last update
grad_norm           Euclidean norm of the gradient before clipping, mean over the epoch's updates
seconds             time of the epoch's training, without its validation
tokens_per_second   target tokens (masked_lm: hidden words; sentence_pairs: pairs) trained on, a second of that
members             how many runs the array consisted of that this one was trained in; absent outside of arrays
time                when it was recorded, UTC, ISO 8601
commit              of the code that trained the epoch; of one that was interrupted, the code that ended it
=================== ============================================================================================

Losses are means over what the task predicts: target tokens in translation, hidden words in ``masked_lm``, pairs in
``sentence_pairs``, which have ``nats a hidden word`` and ``nats a pair``.

``probe``, before the first update and every ``probes.every`` updates: ``epoch``, ``update``, ``side`` (which of the
model's stacks of layers, as ``encoder`` or ``decoder``), ``layer`` (from 1), and either, for each FFN matrix,
``parameter`` (``W1`` or ``W2``), ``grad_norm``, the Frobenius norm of the expected gradient over ``probes.batches``
minibatches of the loss a token, and ``mean_grad_norm``, the mean of their norms; or, once a layer, ``output`` and
``before_norm``, the mean of ‖x‖²/d over their positions behind the layer and before its last LayerNorm.

``updates``, before the record of each epoch, and where training was saved within an epoch, stopped or diverged:
``epoch``, and of every update since the last such record ``train_loss`` (label-smoothed, nats a target token) and
``grad_norm`` (before clipping), two lists of equal length; their last numbers are of ``update``. Of a run that diverged
in an update, that one is the last.

``snapshot``, at the updates that ``diagnostics.at`` asks for: ``epoch``, ``update``, and lists of numbers by
``<measure>.<module>``, a number a layer from the first on (null for a layer without one), or a single one for what is
of no layer. What they measure is of that update, in its forward pass or of its step:

=============================== ================================================================================
attention_logit.<attention>     largest q·k/√d over batch, heads and positions; what attention does not see, and
                                padding, does not count
attention_entropy.<attention>   mean over queries and heads of the entropy of attention's weights, nats; of the same
hidden_state.<side>             E‖x‖²/d of a layer's output, the mean over positions without padding
hidden_cosine.<side>            mean cosine of two positions in a layer's output; 1: all alike
log_z.output                    mean over target tokens of log Z of the output softmax, nats
log_z_squared.output            mean of its square
sharpness.loss                  largest eigenvalue of the Hessian of one minibatch's mean loss a token, nats, before the
                                update; where diagnostics.sharpness asks for it
state_change.<side>             E‖x' − x‖² / E‖x‖² of a layer's outputs x before and x' after the update, over the
                                positions of one minibatch; where diagnostics.state_changes asks for it
gradient_norm.<matrix>          Frobenius norm of the gradient, as the optimizer takes it; not of parameters in
                                half precision, which single runs have there
relative_update.<matrix>        ‖ΔW‖/‖W‖, Frobenius norms, W from before the update
angular_update.<matrix>         angle between W before and after the update, radians
update_rms.<matrix>             root mean square of ΔW, in learning rates
=============================== ================================================================================

``end``, once, after the test of the checkpoint of ``checkpoint_epoch``: the one of least ``valid_nll``, or, of a
diverged run, the last that gives finite scores. Where ``evaluation.average_last`` asks for it, and the run has not
diverged, the numbers of the test are there again, under names that begin with ``averaged_``, for the average of the
checkpoints of ``averaged_epochs``.

A number that is not finite is null.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.files import append_synced, read_regular, write_whole
from lnexp.printable import NOT_PRINTABLE
from lnexp.runs.values import (
    are_counts,
    are_numbers,
    is_count,
    is_count_or_null,
    is_number,
    is_positive,
    is_text,
    is_text_or_null,
    is_time,
)
from lnexp.schema import parse_json, plain_content
from lnexp.tasks import all_tasks
from lnexp.tasks.contract import Field, Record


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_line(record: Record) -> str:
    """Return a record as a line of JSON, ``kind`` first."""
    ordered = {"kind": record["kind"], **record}
    return json.dumps({key: _finite(value) for key, value in ordered.items()}) + "\n"


def append(path: Path, record: Record) -> None:
    """Append a record in one write: a kill leaves at most an unfinished last line, which :func:`read` skips.

    It is on the disk on return, before the checkpoint that follows it.

    Raises:
        ValueError, KeyError, TypeError: for a record that :func:`read` would refuse.
    """
    line = to_line(record)
    _checked(json.loads(line))
    append_synced(path, line)


def read(path: Path) -> list[Record]:
    """Return all complete records of a file; none where it does not exist. Numbers that are not finite are None.

    Raises:
        UserError: where a line other than an unfinished last one is not a record (the line is named), and where an
            epoch or the end is there twice.
    """
    if not os.path.lexists(path):
        return []
    *lines, _unfinished = read_regular(path, errors="surrogateescape").split("\n")
    try:
        found = [_checked(record) for record in _parse(f"[{','.join(lines)}]")]  # at once: their keys are then shared
        if len(found) == len(lines):
            _check_once(path, found)
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError(f"{path}:{_first_bad(lines)}; force=true trains the run afresh")


#: What a record says in letters that no terminal must be sent, or may, behind an escape; and what is nested: neither is
#: in records of ours.
STRANGE = re.compile(rf"\\[bfru]|{NOT_PRINTABLE.pattern}|\{{[^}}]*\{{")


def _parse(text: str) -> Any:
    content = parse_json(text, constant=lambda name: None)  # NaN and Infinity, which are no JSON
    return plain_content(content) if STRANGE.search(text) else content


def _first_bad(lines: list[str]) -> str:
    """Return the number, from 1, of the first line that is not a record, and what is wrong with it, if it is said."""
    for number, line in enumerate(lines, start=1):
        try:
            _checked(_parse(line))
        except ValueError as error:
            return f"{number}: not a record ({error})"
        except (KeyError, TypeError):
            return f"{number}: not a record"
    return f"{len(lines)}: not a record"


def _check_once(path: Path, found: Iterable[Record]) -> None:
    """Raise UserError where an epoch, or the end, has a second record."""
    seen = set()
    for number, record in enumerate(found, start=1):
        if record["kind"] in ("epoch", "end"):
            which = record["epoch"] if record["kind"] == "epoch" else "end"
            if which in seen:
                raise UserError(f"{path}:{number}: it has an {record['kind']} twice; force=true trains the run afresh")
            seen.add(which)


#: What every record of a kind has, whatever its task, and what it may have besides.
REQUIRED: dict[str, dict[str, Callable[[Any], bool]]] = {
    "epoch": {
        "epoch": is_count, "update": is_count, "valid_loss": is_number, "valid_nll": is_number, "lr": is_number,
        "seconds": is_number,
    },
    "probe": {"epoch": is_count, "update": is_count, "side": is_text, "layer": is_count},
    "updates": {"epoch": is_count, "update": is_count, "train_loss": are_numbers, "grad_norm": are_numbers},
    "snapshot": {"epoch": is_count, "update": is_count},
    "end": {},
}  # fmt: skip
OPTIONAL: dict[str, dict[str, Callable[[Any], bool]]] = {
    "epoch": {
        "train_loss": is_number, "grad_norm": is_number, "tokens_per_second": is_number, "members": is_positive,
        "time": is_time, "commit": is_text_or_null,
    },
    "probe": {
        "parameter": is_text, "grad_norm": is_number, "mean_grad_norm": is_number, "output": is_number,
        "before_norm": is_number,
    },
    "updates": {},
    "snapshot": {},
    "end": {"checkpoint_epoch": is_count_or_null, "averaged_epochs": are_counts},
}  # fmt: skip


def _checked(record: Any) -> Record:
    """Return the record itself. Raises ValueError, KeyError or TypeError where it is not one."""
    kind = record["kind"]
    wrong = [key for key, fits in REQUIRED[kind].items() if not fits(record[key])]
    wrong += [key for key, fits in OPTIONAL[kind].items() if key in record and not fits(record[key])]
    if kind == "snapshot":
        wrong += [key for key in record.keys() - REQUIRED[kind] - {"kind"} if not are_numbers(record[key])]
    if kind == "updates" and not wrong and not 0 < len(record["train_loss"]) == len(record["grad_norm"]):
        wrong = ["train_loss", "grad_norm"]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: not of the kind that a record has there")
    if kind in ("epoch", "end") and not any(_fits(record, fields) for fields in _task_fields(kind)):
        raise ValueError("not a record of any task")
    return record


@cache
def _task_fields(kind: str) -> list[list[Field]]:
    """Return the fields that each task adds to records of a kind; the first of each is required."""
    if kind == "epoch":
        return [task.epoch_numbers() for task in all_tasks()]
    return [[*task.test_numbers(), *task.averaged_numbers()] for task in all_tasks()]


def _fits(record: Record, fields: Sequence[Field]) -> bool:
    """Return whether a record can be of the task that has these fields.

    It then has the first one, and in every one that it has a number within the bounds of the field, or null.
    """
    return fields[0].name in record and all(_is_within(record.get(field.name), field) for field in fields)


def _is_within(value: Any, field: Field) -> bool:
    return is_number(value) and (value is None or field.low <= value <= field.high)


def of_kind(kind: str, records: Iterable[Record]) -> list[Record]:
    """Return the records of a kind, as ``epoch`` or ``end``, in their order."""
    return [record for record in records if record["kind"] == kind]


def seconds(epochs: Iterable[Record]) -> float:
    """Return the training time of epochs, in seconds, to the tenth, by which published runs are recognised."""
    return round(sum(record["seconds"] or 0 for record in epochs), 1)


def core_seconds(epochs: Iterable[Record], threads: int) -> float:
    """Return the core-seconds that the training of epochs took; a member of an array has its share of them."""
    return round(sum(threads * (record["seconds"] or 0) / record.get("members", 1) for record in epochs), 1)


def keep_until(path: Path, epoch: int, update: int) -> None:
    """Drop records after ``epoch``, or after an ``update`` within the next one, and an unfinished last line.

    Two zeros drop everything.
    """
    before = [record for record in read(path) if record["kind"] != "end"]
    kept = [record for record in before if record["epoch"] <= epoch or (update and record["update"] <= update)]
    write_whole(path, "".join(map(to_line, kept)))
