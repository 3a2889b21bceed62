"""Call corpora as people do, in sentences and heads of tables."""

#: By the name of its config, ``data=``.
NAMES = {
    "toy": "embedded corpus",
    "bert_toy": "BERT's made-up sentences",
    "gaussian": "Gaussian inputs",
    "multi30k": "Multi30k",
    "iwslt14-subset": "third of IWSLT14",
    "iwslt14": "IWSLT14",
    "wmt14-mini": "WMT14-mini",
}


def corpus_name(data: str) -> str:
    """Return what a corpus is called; one that is not known by the name of its config."""
    return NAMES.get(data, data)
