"""New sentences in the form of a prepared corpus' source side."""

from typing import Any

from lnexp.corpora.moses import lowercase, moses_tokenizer
from lnexp.corpora.prepare import PreparedCorpus, subwords_of


def cut_as_source(sentences: list[str], settings: dict[str, Any], corpus: PreparedCorpus) -> list[str]:
    """Tokenise, lower-case and cut sentences as the corpus was, by the settings of its config.

    A corpus that was tokenised elsewhere, as ``data=tokenized`` and the toy's, takes them as they are typed.
    """
    text = settings["text"]
    if text.get("tokenizer") == "moses":
        sentences = moses_tokenizer(settings["source_lang"]).tokenize(sentences)
    if text.get("lowercase"):
        sentences = list(map(lowercase, sentences))
    subwords = subwords_of(settings)
    return [" ".join(subwords.cut(sentence.split(), corpus.folder)) for sentence in sentences]
