"""Refuse labelled pairs that do not go with the corpus that a model is pre-trained on."""

from collections.abc import Mapping
from typing import Any

from lnexp.errors import UserError
from lnexp.paths import CONFIG_DIR, files_of_group

#: What writes the text and the pairs of the embedded grammar.
GRAMMARS_TEXT = "lnexp.corpora.toy_paraphrases.write"
GRAMMARS_PAIRS = "lnexp.corpora.labelled_pairs.grammar.write"
#: The file of the pairs, and that of the corpus they go with.
OF_THE_GRAMMAR, ITS_CORPUS = "paraphrases", "bert_toy"


def refuse_other_pairs(data: Mapping[str, Any]) -> None:
    """Refuse a corpus without pairs, made-up pairs beside real text, and real ones beside made-up text.

    Args:
        data: the plain settings of the group ``data``.

    Raises:
        UserError: for these, in a line that names pairs that go with the corpus.
    """
    name, pairs = data["name"], data.get("pairs")
    made_up = data["text"]["_target_"] == GRAMMARS_TEXT
    if pairs is None:
        raise UserError(f"pairs: not set, and data={name} has none of its own; say {_that_go_with(made_up)}")
    if (pairs["_target_"] == GRAMMARS_PAIRS) == made_up:
        return
    whose = "made up" if made_up else "not"
    raise UserError(
        f"pairs={pairs['name']}: does not go with data={name}, whose text is {whose} by the grammar of"
        f" data={ITS_CORPUS}; {_instead(name, made_up)}"
    )


def _instead(corpus: str, made_up: bool) -> str:
    """Return what to say for other pairs."""
    own = (CONFIG_DIR / "pairs" / f"_of_{corpus}.yaml").is_file()
    return f"leave it out for those of data={corpus}" if own else f"say {_that_go_with(made_up)}"


def _that_go_with(made_up: bool) -> str:
    """Return the choices of pairs beside made-up text, or beside any other."""
    return " or ".join(f"pairs={file}" for file in files_of_group("pairs") if (file == OF_THE_GRAMMAR) == made_up)
