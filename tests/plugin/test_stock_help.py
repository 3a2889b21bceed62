"""``fairseq-train … --help``: the options of what is chosen, and mistakes as before."""

import pytest
from fairseq import options
from hydra.version import setbase


def parse(*words: str) -> int:
    """Parse a command line of ``fairseq-train``, and return the code that it exits with."""
    setbase("1.1")  # fairseq composes with an interface that newer defaults refuse
    with pytest.raises(SystemExit) as exit_:
        options.parse_args_and_arch(options.get_training_parser(), list(words))
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.mark.parametrize("order", [1, -1])
def test_it_lists_the_options_of_model_optimizer_and_schedule(capsys, order):
    words = ["--arch=lnexp_mix_ln", "--optimizer=lnexp_adam", "--lr-scheduler=lnexp_step", "--help"]
    assert parse(*words[::order]) == 0
    text = capsys.readouterr().out
    for option in ("--mix-ln-alpha", "--init", "--betas", "--decay-epoch", "positional arguments:\n  data"):
        assert option in text
    assert "--decay-from" not in text, "which another schedule has"


def test_a_wrong_name_is_an_error_all_the_same(capsys):
    assert parse("--arch", "lnexp_none", "--help") == 2
    assert "invalid choice: 'lnexp_none'" in capsys.readouterr().err


def test_without_help_a_missing_word_is_an_error(capsys):
    assert parse("--arch", "lnexp_pre_ln") == 2
    assert "the following arguments are required: data" in capsys.readouterr().err
