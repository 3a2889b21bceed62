"""Labelled pairs are those of the corpus unless told otherwise, and made-up ones are refused beside real text."""

import pytest

from lnexp.configuration import check, compose
from lnexp.errors import UserError
from lnexp.runs.environment import environment
from lnexp.tasks import load_task, task_of

TASK = ["task=sentence_pairs", "start.epoch=0"]
#: Options without which no checksum of files is taken.
NO_FILES = ["data.path=none", "data.text.sha256=none"]


def checked(*options):
    cfg = compose([*TASK, *options])
    check(cfg)
    return cfg.data.pairs.name


def test_the_corpus_decides_which_pairs_are_taken():
    real = [*NO_FILES, "data.pairs.sha256=none"]
    assert checked("data=bert_toy") == "paraphrases"
    assert checked("data=bert_text", *real) == "tatoeba"
    assert checked("data=bert_text", *real, "data.name=mine", "pairs=tatoeba") == "tatoeba"
    assert checked("data=wikipedia_books", *real, "data.glue=none") == "mrpc"
    assert checked("data=wikipedia_books", *real, "data.glue=none", "pairs=rte") == "rte"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["data=bert_text", "pairs=paraphrases", *NO_FILES],
            r"^pairs=paraphrases: does not go with data=bert_text, .* leave it out for those of data=bert_text$",
        ),
        (["data=toy", "pairs=paraphrases"], r"not by the grammar of data=bert_toy; say pairs=mrpc or .*pairs=tatoeba$"),
        (["data=bert_plain", *NO_FILES], "^pairs: not set, and data=bert_plain has none .* say pairs=mrpc or "),
        (
            ["data=bert_toy", "pairs=mrpc", "data.glue=none", "data.pairs.sha256=none", "+data.text.tokenizer=none",
             "+data.text.lowercase=true"],
            "^pairs=mrpc: does not go with data=bert_toy, .* leave it out",
        ),
    ],
)  # fmt: skip
def test_pairs_that_do_not_go_with_the_text_are_refused_in_a_line(options, said):
    with pytest.raises(UserError, match=said):
        checked(*options)


def test_what_a_run_was_trained_on_says_which_pairs(tmp_path):
    options = [*TASK, "data=bert_toy", "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 12}"]
    cfg = compose(options)
    corpus = task_of(cfg).prepare(cfg.data, tmp_path)
    task, data = load_task("sentence_pairs"), environment("cpu", corpus.manifest)["data"]
    assert task.size_in_words(data) == "60 labelled pairs (paraphrases)"
    older = {key: value for key, value in data.items() if key != "pairs_name"}
    assert task.size_in_words(older) == "60 labelled pairs"
