"""The options of fairseq's that are not ours by another name, and that something must be known about."""

from typing import Any

from lnexp.checks import Kind, beginning_with, checked_elsewhere, number, only, whole
from lnexp.options.option import Option

BY_FAIRSEQ = checked_elsewhere("what fairseq takes")


#: fairseq divides by it.
INTERVAL = whole(1)
#: Sentences of a batch; null leaves it to the tokens.
SENTENCES = whole(1).or_null()
#: What is left of a checkpoint where a run is resumed.
ALL_OF_IT = only(False, "a run resumes as if it had not been interrupted")


def _cannot_change_numbers(name: str, kind: Kind = BY_FAIRSEQ) -> Option:
    return Option(f"fairseq.{name}", kind, decides=False)


def _one_in_arrays(name: str, value: Any, skips_epochs: bool = False, kind: Kind = BY_FAIRSEQ) -> Option:
    """Return an option that means nothing to an array of runs, which has ``value`` alone."""
    return Option(f"fairseq.{name}", kind, array_value=value, skips_epochs=skips_epochs)


def _as_it_is(name: str, value: str | None, why: str) -> Option:
    """Return an option that must not be set; its value belongs to the table all the same, so that it is checked."""
    return Option(f"fairseq.{name}", only(value, why))


ROWS = (
    _cannot_change_numbers("common.log_format"),
    _cannot_change_numbers("common.log_interval", INTERVAL),
    _cannot_change_numbers("common.no_progress_bar"),
    _cannot_change_numbers("checkpoint.save_dir"),
    _cannot_change_numbers(
        "checkpoint.no_last_checkpoints",
        only(True, "fairseq copies checkpoint_last.pt in place, and a kill leaves half of it"),
    ),
    _cannot_change_numbers("checkpoint.keep_last_epochs"),
    _cannot_change_numbers("checkpoint.keep_best_checkpoints"),
    _cannot_change_numbers("distributed_training"),
    _cannot_change_numbers("dataset.num_workers"),
    _cannot_change_numbers("dataset.data_buffer_size"),
    _one_in_arrays("dataset.disable_validation", False, skips_epochs=True),
    _one_in_arrays("dataset.validate_interval", 1, skips_epochs=True, kind=INTERVAL),
    _one_in_arrays("dataset.validate_after_updates", 0, skips_epochs=True),
    _one_in_arrays("checkpoint.patience", -1),
    _one_in_arrays("optimization.stop_min_lr", -1.0, kind=number()),
    _one_in_arrays("optimization.stop_time_hours", 0, skips_epochs=True),
    _one_in_arrays("criterion.ignore_prefix_size", 0),
    _one_in_arrays("optimization.sentence_avg", False),  # which the criterion's is by default: named first
    _one_in_arrays("criterion.sentence_avg", False),
    _one_in_arrays("optimization.use_bmuf", False),
    _one_in_arrays("common.amp", False),
    _one_in_arrays("common.memory_efficient_bf16", False),
    _one_in_arrays("ema.store_ema", False),
    _one_in_arrays("checkpoint.finetune_from_model", None),
    _one_in_arrays("checkpoint.reset_optimizer", False, kind=ALL_OF_IT),
    _one_in_arrays("checkpoint.reset_lr_scheduler", False, kind=ALL_OF_IT),
    _one_in_arrays("checkpoint.reset_dataloader", False, kind=ALL_OF_IT),
    _one_in_arrays("distributed_training.distributed_world_size", 1),
    _as_it_is("checkpoint.restore_file", "checkpoint_last.pt", "a run resumes from its own checkpoints"),
    _as_it_is("checkpoint.continue_once", None, "a run resumes from its own checkpoints"),
    _as_it_is("dataset.train_subset", "train", "a run is trained on train"),
    _as_it_is("common.wandb_project", None, "tracker=wandb tracks runs"),
    Option("fairseq.dataset.valid_subset", beginning_with("valid", "records of epochs are of it")),
    Option("fairseq.dataset.batch_size", SENTENCES),
    Option("fairseq.dataset.batch_size_valid", SENTENCES),
    Option("fairseq.dataset.curriculum", whole(0)),
    Option("model.attention_dropout", number(0, below=1)),
    Option("model.activation_dropout", number(0, below=1)),
)
