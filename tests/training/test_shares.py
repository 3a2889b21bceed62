"""How many processes share the batches of an update."""

from hypothesis import given
from hypothesis import strategies as st

from lnexp.training.shares import fitting


@given(st.integers(1, 64), st.integers(0, 70))
def test_a_run_has_as_many_processes_as_share_its_batches_evenly(batches, gpus):
    count = fitting(batches, gpus)
    assert 1 <= count <= max(gpus, 1)
    assert batches % count == 0
    assert not any(batches % more == 0 for more in range(count + 1, gpus + 1))
