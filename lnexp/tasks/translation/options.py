"""The options of translation: the languages, and how sentences are translated to be measured."""

from typing import Any

from lnexp.checks import FLAG, TEXT, Kind, check_text, number, whole
from lnexp.errors import UserError
from lnexp.options import Alias, Option


def _check_target(option: str, value: Any) -> None:
    """Refuse what is no language, and explain null, as corpora of one language have it. Raises UserError."""
    if value is None:
        raise UserError(f"{option}=null: a corpus of one language is not translated; task=masked_lm takes it")
    check_text(option, value)


OPTIONS = (
    Option(
        "data.source_lang", TEXT, "the language that is translated",
        [Alias("data.text.source_lang"), Alias("fairseq.task.source_lang")],
    ),
    Option(
        "data.target_lang", Kind(TEXT.words, _check_target), "the language it is translated into",
        [Alias("data.text.target_lang"), Alias("fairseq.task.target_lang")],
    ),
    Option("model.decoder_embed_dim", whole(1), "width of the decoder's hidden states"),
    Option("model.decoder_ffn_embed_dim", whole(1), "width of the decoder's FFN"),
    Option("model.decoder_attention_heads", whole(1), "heads of the decoder"),
    Option("fairseq.task.left_pad_target", FLAG, "whether padding precedes target sentences", array_value=False),
    Option("evaluation.valid_beam", whole(1), "beam of translations at each validation"),
    Option("evaluation.valid_sentences", whole(0), "the first so many of valid are translated; 0: all"),
    Option(
        "evaluation.whole_valid_every", whole(0), "epochs between translations of all of valid; 0: never",
        omitted_at=0,
    ),
    Option("evaluation.test_beam", whole(1), "beam of the translation of test", published=True),
    Option("evaluation.lenpen", number(-10, below=10), "length penalty of the beam search", published=True),
    Option("evaluation.max_len_a", number(0), "a translation has max_len_a × source + max_len_b tokens at most"),
    Option("evaluation.max_len_b", whole(1), "see max_len_a"),
)  # fmt: skip
