"""The options that every run has, by the sections in which people read them."""

from lnexp.addresses import check_address
from lnexp.checks import (
    FLAG,
    NAME,
    PATTERNS,
    POSITIVE,
    TEXT,
    UPDATES,
    Kind,
    check_text,
    checked_elsewhere,
    choice,
    number,
    numbers,
    whole,
)  # fmt: skip
from lnexp.options.option import Alias, Option, SameAs, flag_of, listed, or_zero

FILE = checked_elsewhere("a file of the group")
OPEN = checked_elsewhere("a group of options")
#: The values of these are checked by the class that takes them, in lnexp/plugin.
NUMBER = checked_elsewhere("a number")
ADDRESS = Kind("an address of http or https", check_address)
#: numpy takes no greater one.
SEED = whole(0, most=2**32 - 1)
WORD = checked_elsewhere("a word")
CLASS = Kind("a word", check_text)

SECTIONS: dict[str, tuple[Option, ...]] = {
    "What is trained": (
        Option("profile", NAME, "the size: model, batches, epochs", published=True, decides=False),
        Option("task", FILE, "what is learned"),
        Option("data", FILE, "the corpus; further options are those of its file", is_group=True, probe="corpus"),
        Option("data.name", NAME, "what tables call the corpus", published=True, decides=False, keeps_arms=False),
        Option("subword", FILE, "how words are cut; each corpus says which it takes", probe="corpus"),
        Option("norm", FILE, "the normalisation layer"),
        Option(
            "norm.kind", CLASS, "its name in lnexp/plugin/norms, which the file sets", [Alias("model.norm")],
            omitted_at="layer_norm", published=True,
        ),
        Option(
            "norm.fix_norm", FLAG, "embeddings of unit length, as in Nguyen & Salazar 2019", [Alias("model.fix_norm")],
            omitted_at=False, array_value=False,
        ),
        Option(
            "qk_norm", FLAG, "normalise attention's queries and keys, head by head", [Alias("model.qk_norm")],
            omitted_at=False,
        ),
        Option(
            "model", FILE, "the placement; options of one alone are below",
            [Alias("fairseq.model")], is_group=True,
        ),
        Option(
            "optimizer", FILE, "the optimizer; options of one alone are below",
            [Alias("fairseq.optimizer")], is_group=True, per_member=True,
        ),
        Option(
            "lr_schedule", FILE, "the learning-rate schedule; options of one alone are below",
            [Alias("fairseq.lr_scheduler")], is_group=True, per_member=True,
        ),
        Option(
            "lr_max", POSITIVE, "the learning rate that warm-up ends with",
            [listed("fairseq.optimization.lr"), listed("lr_schedule.lr"), listed("optimizer.lr")],
            per_member=True, published=True,
        ),
        Option(
            "warmup_updates", whole(1, hint="; 1 means no warm-up"), "updates of warm-up; 1 means none",
            [Alias("lr_schedule.warmup_updates")], per_member=True, published=True,
        ),
        Option(
            "intervention", FILE, "what is changed of every update, to test an explanation",
            is_group=True, omitted_at={"_name": "none"},
        ),
    ),
    "How it is trained": (
        Option(
            "seed", SEED, "seed of initialisation, dropout and the order of the data",
            [Alias("fairseq.common.seed")], per_member=True, published=True, probe="minibatches",
        ),
        Option(
            "order_seed", SEED, "seed of the order of the data alone; the runs of an array share it",
            [Alias("fairseq.task.order_seed")], omitted_at=SameAs("seed"), published=True,
            probe="minibatches",
        ),
        Option(
            "max_epoch", whole(1), "maximum number of epochs", [Alias("fairseq.optimization.max_epoch")],
            published=True,
        ),
        Option(
            "max_update", whole(1).or_null(), "maximum number of updates; null: no limit",
            [or_zero("fairseq.optimization.max_update")], omitted_at=0, published=True,
        ),
        Option(
            "max_tokens", whole(1), "tokens of a batch, per side", [Alias("fairseq.dataset.max_tokens")],
            published=True, probe="minibatches",
        ),
        Option(
            "update_freq", whole(1), "batches of an update", [listed("fairseq.optimization.update_freq")],
            published=True,
        ),
        Option(
            "precision", choice("fp32", "bf16", "fp16"), "number format of the computation",
            [flag_of("fairseq.common.fp16", "fp16"), flag_of("fairseq.common.bf16", "bf16")], published=True,
        ),
        Option(
            "init", choice("paper", "fairseq"), "initialisation: Gaussian Xavier, or as fairseq does it",
            [Alias("model.init")], published=True,
        ),
        Option(
            "label_smoothing", number(0, below=1), "label smoothing of the training loss",
            [Alias("fairseq.criterion.label_smoothing")], published=True,
        ),
        Option(
            "clip_norm", number(0), "gradients are clipped to this norm; 0: never",
            [Alias("fairseq.optimization.clip_norm")], published=True,
        ),
    ),
    "Options of the model, the optimizer and the schedule": (
        Option("model.encoder_layers", whole(1), "layers of the encoder", published=True),
        Option("model.decoder_layers", whole(1), "layers of the decoder", published=True),
        Option("model.encoder_embed_dim", whole(1), "width of the encoder's hidden states", published=True),
        Option("model.encoder_ffn_embed_dim", whole(1), "width of the encoder's FFN", published=True),
        Option("model.encoder_attention_heads", whole(1), "heads of the encoder", published=True),
        Option("model.dropout", number(0, below=1), "dropout of blocks' outputs and of embeddings", published=True),
        Option(
            "model.share_all_embeddings", FLAG, "tie both embeddings and the output projection",
            omitted_at=False,
        ),
        Option(
            "model.checkpoint_activations", FLAG, "compute activations again in the backward pass to save memory",
            omitted_at=False,
        ),
        Option(
            "optimizer.betas", numbers(2, 0, below=1), "decay rates of the two moments (Adam, RAdam)",
            published=True,
        ),
        Option("optimizer.weight_decay", number(0), "decoupled; for SGD it is L2", published=True),
        Option(
            "lr_schedule.form", WORD, "coupled, as fairseq's | decoupled, one decay for every arm (inverse_sqrt)",
            published=True,
        ),
        Option("lr_schedule.decay_from", NUMBER, "update at which the decay begins (inverse_sqrt)", published=True),
        Option("lr_schedule.decay_epoch", whole(1), "first epoch with the smaller rate (step)", published=True),
    ),
    "How it is measured": (
        Option(
            "evaluation.max_tokens", whole(1), "tokens of a batch in validation and test, per side",
            [Alias("fairseq.dataset.max_tokens_valid")],
        ),
        Option(
            "evaluation.average_last", whole(0), "epochs at the end whose averaged checkpoints are tested; 0: none",
            omitted_at=0,
        ),
    ),
    "Where and how often": (
        Option("runs_dir", TEXT, "where run folders lie", decides=False, locates=True, probe="runs"),
        Option("data_dir", TEXT, "where prepared corpora lie", decides=False, locates=True, probe="corpus"),
        Option("force", FLAG, "train again a run that is finished", decides=False),
        Option(
            "other_code", choice("refuse", "keep", "retrain"),
            "what to do with a run that other code has trained, finished or not: ask, take it as it is, train it again",
            decides=False,
        ),
        Option(
            "device", choice("auto", "cpu", "cuda"), "where to train; auto: on a GPU if there is one",
            [flag_of("fairseq.common.cpu", "cpu")], decides=False,
        ),
        Option(
            "threads", whole(1, most=1024), "CPU threads of a run, whose sums round otherwise than one thread's",
            omitted_at=1, keeps_arms=True,
        ),
        Option(
            "checkpoints.keep", choice("best_and_last", "last", "all"), "which checkpoints stay when a run is over",
            decides=False,
        ),
        Option(
            "probes.every", whole(0), "updates between two probes of gradients by layer; 0: never",
            decides=False,
        ),
        Option(
            "probes.batches", whole(1), "minibatches of a probe", decides=False, probe="minibatches"
        ),
        Option(
            "diagnostics.at", UPDATES, "updates of which a snapshot is recorded; log: often at first, then seldom",
            decides=False,
        ),
        Option(
            "diagnostics.sharpness", whole(0), "products with the Hessian for the sharpness at each of them; 0: none",
            decides=False,
        ),
        Option(
            "diagnostics.state_changes", FLAG, "measure by how much each of them changes hidden states", decides=False,
        ),
        Option("tracker", FILE, "wandb: not at all, offline, or online", decides=False),
        Option(
            "tracker.mode", choice("disabled", "offline", "online"), "mode of wandb",
            decides=False,
        ),
        Option("tracker.project", WORD, "project of wandb", decides=False),
        Option(
            "n_seeds", whole(1, most=10_000).or_null(),
            "how many seeds a recipe is trained with; null: as many as it states", decides=False, probe="seeds",
        ),
        Option(
            "first_seed", SEED.or_null(), "first seed of a recipe; null: the one that it states",
            decides=False, probe="seeds",
        ),
        Option(
            "arms", PATTERNS, "arms of a recipe by their names, or by patterns as 'post_ln_*,pre_ln_*'; null: all",
            decides=False, probe="arms",
        ),
    ),
    "Groups whose options are not listed": (
        Option(
            "scale", OPEN, "sizes of a profile that other options are made of", is_group=True, decides=False,
            per_member=True, keeps_arms=False,
        ),
        Option(
            "scale.toy", OPEN, "sizes of the embedded corpus", is_group=True, decides=False, per_member=True,
            keeps_arms=False, probe="corpus",
        ),
        Option("fairseq", OPEN, "every other option of fairseq's: fairseq.GROUP.OPTION=VALUE", is_group=True),
        Option("hydra", OPEN, "Hydra's own: the launcher, the sweeper, …", is_group=True, decides=False),
    ),
}  # fmt: skip

#: What the files of groups call their class. Names of runs are made of it.
CLASSES = tuple(Option(f"{group}._name", CLASS) for group in ("model", "optimizer", "lr_schedule"))

#: What a sweep adds to the config of a job, to say which arm of which recipe it is.
LABELS = (
    Option("recipe", NAME, "the recipe that a run is of", decides=False, per_member=True),
    Option("arm", NAME, "the arm of it", decides=False, per_member=True),
    Option("label", NAME, "what the name of a run's folder says beyond the usual", decides=False, per_member=True),
)

#: Where the text and the subwords of a corpus come from. Some corpora have these options.
LOCATIONS = (
    Option(
        "data.text.downloads.base_url", ADDRESS, "where the corpus is published", decides=False, keeps_arms=False,
        locates=True,
    ),
    *(
        Option(f"data.{name}", WORD, "where files of the corpus are", decides=False, keeps_arms=False, locates=True)
        for name in ("path", "glue", "text.root", "subword.codes", "subword.model", "pairs.path")
    ),
)  # fmt: skip
