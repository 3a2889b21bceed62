"""``scripts/train.py --help`` lists the options."""

import re
from dataclasses import fields

import pytest
from helpers import run_script

from lnexp.launchers.help import WIDTH, help_text
from lnexp.plugin.model import PLACEMENTS
from lnexp.tasks import load_task, table_of_task
from lnexp.tasks.measures import measures_of


def test_help_lists_every_option_with_its_values_and_default():
    text = help_text()
    for option in table_of_task("translation").ours:
        assert f"  {option.name}: " in text
    assert "  warmup_updates: a whole number from 1 [300]" in text
    assert "  profile: medium | paper | small [small]" in text
    assert "  force: true | false [false]" in text
    assert "fairseq.GROUP.OPTION=VALUE" in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_options_that_one_file_has_alone_are_listed_with_what_the_file_says():
    text = help_text()
    assert "  model.mix_ln_alpha [0.25], with model=mix_ln\n      the share of a stack's layers" in text
    assert "  optimizer.momentum [0.0], with optimizer=sgd\n" in text
    adams = "optimizer=adam or optimizer=gathered_adam or optimizer=radam"
    assert f"optimizer.eps [1e-8], with {adams} " in " ".join(text.split())
    assert "  lr_schedule.factor [0.1], with lr_schedule=step\n" in text
    assert "_name" not in text
    assert "${" not in text


@pytest.mark.parametrize("placement", [name for name, known in PLACEMENTS.items() if known.options])
def test_every_option_of_a_placement_is_listed(placement):
    known = PLACEMENTS[placement]
    for option in fields(known.options):
        assert f"model.{known.option_name(option.name)} [" in help_text()


def test_recipes_launchers_and_what_claims_ask_are_listed():
    text = help_text(["task=masked_lm"])
    assert "\n  fig2a: Fig. 2(a)" in text
    assert "\n  array: " in text
    assert "as best_accuracy(ARM)" in text
    for measure in measures_of(load_task("masked_lm")):
        assert re.search(rf"\b{measure}\b", text)


def test_the_command_prints_it():
    done = run_script("train", "--help")
    assert done.returncode == 0
    assert done.stdout == help_text() + "\n"
