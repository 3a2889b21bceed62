"""Options that no help lists but that have bounds: fairseq's own, and those of one placement, optimizer or schedule."""

from typing import Any

from lnexp.checks import FLAG, FRACTION, POSITIVE, Kind, beginning_with, checked_elsewhere, choice, number, only, whole
from lnexp.options.common import SEED
from lnexp.options.option import Option

BY_FAIRSEQ = checked_elsewhere("what fairseq takes")


#: fairseq divides by it.
INTERVAL = whole(1)
#: Sentences of a batch; null leaves it to the tokens.
SENTENCES = whole(1).or_null()
#: Of what lengths and sizes are to be multiples.
MULTIPLE = whole(1, most=1024)
#: What is left of a checkpoint where a run is resumed.
AS_IF_NEVER = "a run resumes as if it had not been interrupted"
ALL_OF_IT = only(False, AS_IF_NEVER)
#: What a run resumes from.
EVERY_EPOCH = "a run saves a checkpoint of every epoch"
#: Which checkpoints there are when a run is tested.
KEPT_FOR_THE_TEST = "the test takes the best one, whichever checkpoints.keep leaves"
#: What losses are means over.
A_TOKEN = only(False, "losses are means over tokens")
#: What several processes have in common with one.
SHARED = "several processes have the order of the data of one"
WHOLE_MODEL = "a model is whole in each process"
#: How processes train together, each with the whole model: not with fairseq's other backends.
TOGETHER = choice("legacy_ddp", "no_c10d", "c10d", "pytorch_ddp")


def _cannot_change_numbers(name: str, kind: Kind = BY_FAIRSEQ) -> Option:
    return Option(f"fairseq.{name}", kind, decides=False)


def _one_in_arrays(name: str, value: Any, skips_epochs: bool = False, kind: Kind = BY_FAIRSEQ) -> Option:
    """Return an option that means nothing to an array of runs, which has ``value`` alone."""
    return Option(f"fairseq.{name}", kind, array_value=value, skips_epochs=skips_epochs)


def _as_it_is(name: str, value: str | int | None, why: str) -> Option:
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
    _cannot_change_numbers("checkpoint.keep_last_epochs", only(-1, KEPT_FOR_THE_TEST)),
    _cannot_change_numbers("checkpoint.keep_best_checkpoints", only(-1, KEPT_FOR_THE_TEST)),
    _cannot_change_numbers("distributed_training"),
    _cannot_change_numbers("distributed_training.ddp_comm_hook", only("none", "processes add up whole gradients")),
    _cannot_change_numbers("distributed_training.fix_batches_to_gpus", only(False, SHARED)),
    _cannot_change_numbers("distributed_training.pipeline_model_parallel", only(False, WHOLE_MODEL)),
    _cannot_change_numbers(
        "distributed_training.zero_sharding", only("none", "a checkpoint has the whole state of the optimizer")
    ),
    _cannot_change_numbers("distributed_training.ddp_backend", TOGETHER),
    _cannot_change_numbers("dataset.num_workers", whole(0, most=64)),
    _cannot_change_numbers("dataset.data_buffer_size"),
    _one_in_arrays("dataset.disable_validation", False, skips_epochs=True),
    _one_in_arrays("dataset.validate_interval", 1, skips_epochs=True, kind=INTERVAL),
    _one_in_arrays("dataset.validate_after_updates", 0, skips_epochs=True),
    _one_in_arrays("optimization.stop_min_lr", -1.0, kind=number()),
    _one_in_arrays("optimization.stop_time_hours", 0, skips_epochs=True, kind=number(0)),
    _one_in_arrays("criterion.ignore_prefix_size", 0, kind=only(0, "losses are of whole sentences")),
    # the criterion's is by default the other one, which is named first
    _one_in_arrays("optimization.sentence_avg", False, kind=A_TOKEN),
    _one_in_arrays("criterion.sentence_avg", False, kind=A_TOKEN),
    _one_in_arrays("optimization.use_bmuf", False, kind=only(False, "processes add up their gradients")),
    _one_in_arrays("common.amp", False),
    _one_in_arrays("common.memory_efficient_bf16", False),
    _one_in_arrays("ema.store_ema", False),
    _one_in_arrays("checkpoint.finetune_from_model", None),
    _one_in_arrays("checkpoint.reset_optimizer", False, kind=ALL_OF_IT),
    _one_in_arrays("checkpoint.reset_lr_scheduler", False, kind=ALL_OF_IT),
    _one_in_arrays("checkpoint.reset_dataloader", False, kind=ALL_OF_IT),
    _one_in_arrays("distributed_training.distributed_world_size", 1),
    _as_it_is("checkpoint.patience", -1, "runs are compared at the length that their arms state"),
    _as_it_is("checkpoint.restore_file", "checkpoint_last.pt", "a run resumes from its own checkpoints"),
    _as_it_is("checkpoint.continue_once", None, "a run resumes from its own checkpoints"),
    _as_it_is("checkpoint.optimizer_overrides", "{}", AS_IF_NEVER),
    _as_it_is("checkpoint.reset_meters", False, AS_IF_NEVER),
    _as_it_is("checkpoint.no_save", False, EVERY_EPOCH),
    _as_it_is("checkpoint.no_epoch_checkpoints", False, EVERY_EPOCH),
    _as_it_is("checkpoint.save_interval", 1, EVERY_EPOCH),
    _as_it_is("checkpoint.no_save_optimizer_state", False, AS_IF_NEVER),
    _as_it_is("checkpoint.checkpoint_suffix", "", "a run knows its checkpoints by their names"),
    _as_it_is("checkpoint.write_checkpoints_asynchronously", False, "a checkpoint is whole before the next epoch"),
    _as_it_is("dataset.train_subset", "train", "a run is trained on train"),
    _as_it_is("task.train_subset", "train", "a run is trained on train"),
    _as_it_is("task.upsample_primary", -1, "a corpus has one part"),
    _as_it_is("dataset.curriculum", 0, "a resumed run would shuffle other epochs than one that was not interrupted"),
    _as_it_is("dataset.num_shards", 1, "a run has all of its corpus"),
    _as_it_is("dataset.shard_id", 0, "a run has all of its corpus"),
    _as_it_is("common.tpu", False, "a run is trained on a CPU or GPUs"),
    _as_it_is("common.model_parallel_size", 1, WHOLE_MODEL),
    _as_it_is("common.suppress_crashes", False, "a run that crashes has failed"),
    _as_it_is("common.wandb_project", None, "tracker=wandb tracks runs"),
    Option("fairseq.dataset.valid_subset", beginning_with("valid", "records of epochs are of it")),
    Option("fairseq.dataset.batch_size", SENTENCES),
    Option("fairseq.dataset.batch_size_valid", SENTENCES),
    Option("fairseq.dataset.required_seq_len_multiple", MULTIPLE),
    Option("fairseq.dataset.required_batch_size_multiple", MULTIPLE),
    Option("fairseq.dataset.fixed_validation_seed", SEED.or_null()),
    Option("fairseq.dataset.max_valid_steps", whole(1).or_null()),
    Option("fairseq.common.empty_cache_freq", whole(0)),
    Option("fairseq.common.min_loss_scale", POSITIVE),
    Option("fairseq.common.all_gather_list_size", whole(1, most=2**30)),
    Option("fairseq.ema.ema_decay", FRACTION),
    Option("model.attention_dropout", number(0, below=1)),
    Option("model.activation_dropout", number(0, below=1)),
    Option("model.keel_alpha", POSITIVE.or_null()),
    Option("model.hybrid_norm_first_pre_ln", FLAG),
    Option("optimizer.momentum", FRACTION),
    Option("optimizer.gather", whole(0)),
    Option("lr_schedule.factor", FRACTION),
)
