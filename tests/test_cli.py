"""What no command can read is one line."""

import pytest
from helpers import ROOT, run_script

COMMANDS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_and_no_usage(name):
    done = run_script(name, "--no-such-option")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.endswith("; --help lists the options")
