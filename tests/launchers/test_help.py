"""``scripts/train.py --help`` lists the options."""

from helpers import run_script

from lnexp.launchers.help import WIDTH, help_text
from lnexp.tasks import table_of_task


def test_help_lists_every_option_with_its_values_and_default():
    text = help_text()
    for option in table_of_task("translation").ours:
        assert f"  {option.name}: " in text
    assert "  warmup_updates: a whole number from 1 [300]" in text
    assert "  profile: medium | paper | small [small]" in text
    assert "  force: true | false [false]" in text
    assert "fairseq.GROUP.OPTION=VALUE" in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_command_prints_it():
    done = run_script("train", "--help")
    assert done.returncode == 0
    assert done.stdout == help_text() + "\n"
