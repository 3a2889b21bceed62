"""Preprocess new sentences like the source side of a prepared corpus."""

from typing import Any

from lnexp.corpora.moses import lowercase, moses_tokenizer
from lnexp.corpora.prepare import PreparedCorpus, subwords_of


def preprocess_as_source(sentences: list[str], settings: dict[str, Any], corpus: PreparedCorpus) -> list[str]:
    """Tokenise, lower-case and segment sentences as the settings of the corpus' config state.

    Sentences for a corpus without a tokeniser, as ``data=tokenized`` and ``data=toy``, must be tokenised.
    """
    text = settings["text"]
    if text.get("tokenizer") == "moses":
        sentences = moses_tokenizer(settings["source_lang"]).tokenize(sentences)
    if text.get("lowercase"):
        sentences = list(map(lowercase, sentences))
    subwords = subwords_of(settings)
    return [" ".join(subwords.segment(sentence.split(), corpus.folder)) for sentence in sentences]
