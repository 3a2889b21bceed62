"""The machine of a plan is what ``device`` says, as ``train.py`` takes it."""

import pytest
import torch

from lnexp.planning.machine import machine_of


@pytest.mark.parametrize(("visible", "device", "profile"), [(True, "cuda", "paper"), (False, "cpu", "small")])
def test_auto_is_the_gpu_where_there_is_one(monkeypatch, visible, device, profile):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: visible)
    machine, words = machine_of(["device=auto", "gpus=2"])
    assert (machine.device, machine.gpus) == (device, 2)
    assert words == [f"profile={profile}"]


def test_the_last_device_that_is_said_counts():
    assert machine_of(["device=auto", "device=h100", "profile=medium"])[0].device == "h100"
