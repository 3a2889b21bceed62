"""What a run is said to have run on."""

import pytest

from lnexp.runs.environment import environment


@pytest.mark.parametrize(("device", "has"), [("cpu", False), ("NVIDIA H100 80GB HBM3", True)])
def test_a_gpus_libraries_are_recorded(device, has):
    found = environment(device, {})
    assert found["device"] == device
    assert ({"cuda", "cudnn"} <= found.keys()) is has
