"""Benchmarks are run by name, and say beforehand how long they take."""

import re

import pytest
from helpers import error_of, run_script

from lnexp.commands.bench import BENCHMARKS, chosen
from lnexp.errors import UserError


def test_names_are_chosen_in_the_order_of_the_command_line():
    assert chosen(["training,arrays", "start"]) == ["training", "arrays", "start"]
    assert chosen([]) == list(BENCHMARKS)
    with pytest.raises(UserError, match="array: no such benchmark; did you mean arrays"):
        chosen(["array"])


@pytest.mark.slow
def test_all_are_listed_with_their_times():
    done = run_script("bench", "--list")
    assert done.returncode == 0, done.stderr
    *lines, total = done.stdout.splitlines()
    minutes = [int(re.match(r"  \w+ +(\d+) min  \S", line)[1]) for line in lines]
    assert [line.split()[0] for line in lines] == list(BENCHMARKS)
    assert total == f"about {sum(minutes)} minutes at profile small on a laptop"
    assert max(map(len, lines)) <= 100


def test_an_unknown_name_is_one_line():
    done = run_script("bench", "trainign")
    assert done.stdout == ""
    assert error_of(done).startswith("error: trainign: no such benchmark; did you mean training")
