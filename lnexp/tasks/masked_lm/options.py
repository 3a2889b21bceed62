"""The options of masked language modelling: which text is read, how it is packed, and which words are hidden."""

from lnexp.checks import TEXT, choice, number, only, whole
from lnexp.options import Alias, Option

#: Of a task that reads one language.
LANGUAGES = (
    Option("data.source_lang", TEXT, "the language of a corpus of one", [Alias("fairseq.task.source_lang")]),
    Option("data.target_lang", TEXT.or_null(), "the side that is read", [Alias("fairseq.task.target_lang")]),
)

OPTIONS = (
    *LANGUAGES,
    Option(
        "blocks.tokens", whole(2), "tokens of a block", [Alias("fairseq.task.tokens_per_sample")], published=True
    ),
    Option(
        "blocks.break_mode", choice("none", "complete", "complete_doc", "eos"),
        "where blocks end: anywhere, at a sentence, also at a document, after each sentence",
        [Alias("fairseq.task.sample_break_mode")], published=True,
    ),
    Option(
        "masking.probability", number(0, below=1), "share of words that are hidden, and predicted",
        [Alias("fairseq.task.mask_prob")], published=True,
    ),
    Option(
        "masking.kept", number(0, below=1), "share of those that stay as they are",
        [Alias("fairseq.task.leave_unmasked_prob")],
    ),
    Option(
        "masking.random", number(0, below=1), "share of those that are replaced by a random word",
        [Alias("fairseq.task.random_token_prob")],
    ),
    Option(
        "masking.held_out_seed", whole(0), "seed of the masks of valid and test", [Alias("fairseq.task.mask_seed")]
    ),
    Option(
        "evaluation.target_nll", number(0).or_null(), "validation nll that updates_to_nll counts updates to",
        published=True, decides=False,
    ),
    Option(
        # fairseq keeps its workers over epochs, and a worker would keep the masks of the epoch that it began in
        "fairseq.dataset.num_workers", only(0, "masks are drawn anew in every epoch, in the process that trains"),
        decides=False,
    ),
)  # fmt: skip
