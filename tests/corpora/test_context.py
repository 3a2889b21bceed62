"""Worker processes return results in order, a few at a time."""

import itertools
import os

import pytest

from lnexp.corpora.context import PreparationContext
from lnexp.errors import UserError


def square(number: int) -> int:
    return number * number


def refuse_seven(number: int) -> int:
    if number == 7:
        raise UserError("seven: refused")
    return number


def die(number: int) -> None:
    os._exit(1)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_order(tmp_path, cores, count):
    with PreparationContext(tmp_path, cores=cores) as context:
        assert list(context.map(square, range(count))) == [number * number for number in range(count)]


def test_an_endless_corpus_does_not_fill_the_memory(tmp_path):
    taken = itertools.count()
    with PreparationContext(tmp_path, cores=2) as context:
        results = context.map(square, (next(taken) for _ in itertools.repeat(None)))
        assert [next(results) for _ in range(20)][-1] == 19 * 19
        assert next(taken) < 40
        results.close()


def test_an_error_of_a_process_is_raised_here(tmp_path):
    with PreparationContext(tmp_path, cores=2) as context, pytest.raises(UserError, match="seven: refused"):
        list(context.map(refuse_seven, range(20)))


def test_a_killed_process_is_told_in_a_line(tmp_path):
    with PreparationContext(tmp_path, cores=2) as context, pytest.raises(UserError, match="killed: out of memory"):
        list(context.map(die, range(3)))
