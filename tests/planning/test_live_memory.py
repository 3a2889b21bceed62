"""Bytes of tensors as long as they live."""

import torch

from lnexp.planning.live_memory import LiveMemory, resting_bytes

KIB = 256  # numbers in single precision


def test_what_lives_is_counted_once_and_what_is_freed_no_more():
    x = torch.ones(KIB)
    with LiveMemory() as live:
        y = x + 1
        view = y.view(2, -1)
        assert live.now == 1024
        z = y * 2
        z.add_(1)
        assert (live.now, live.operations) == (2048, 3)
        assert live.traffic == 2 * 1024 + 2 * 1024 + 2 * 1024, "read and written; views move nothing"
        del y, z
        assert live.now == 1024, "the view holds it"
        del view
    assert (live.now, live.peak) == (0, 2048)


def test_what_the_way_back_needs_lives_until_then():
    w = torch.ones(KIB, requires_grad=True)
    with LiveMemory() as live:
        loss = (w * 2).exp().sum()
        assert live.now == 1024 + 4, "exp keeps what it gave; what it was given is gone"
        loss.backward()
        del loss
        assert live.now == 1024
    assert w.grad is not None


def test_resting_bytes_are_those_of_all_tensors():
    before = resting_bytes()
    model = torch.nn.Linear(KIB, 4, bias=False)
    part = model.weight[:2]
    assert resting_bytes() - before == 4096
    del part
