"""Count the memory of live tensors; on a CPU that is what a GPU's allocator would see."""

import gc
import weakref
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveMemory(TorchDispatchMode):
    """Count the bytes of the tensors that are made while it is active, as long as they live; a context manager.

    Attributes:
        now: bytes in use.
        peak: the most bytes that were in use at any time.
        operations: how many operations of PyTorch ran, without views.
        traffic: bytes that these read and wrote.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = self.operations = self.traffic = 0
        self._known: weakref.WeakSet = weakref.WeakSet()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        read, written = ([leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)] for tree in (args, made))
        known = {tensor.untyped_storage().data_ptr() for tensor in read}
        for tensor in written:
            if tensor.untyped_storage().data_ptr() not in known:
                self._count(tensor.untyped_storage())
        if not func.is_view:
            self.operations += 1
            self.traffic += sum(tensor.numel() * tensor.element_size() for tensor in (*read, *written))
        return made

    def _count(self, storage: torch.UntypedStorage) -> None:
        if storage in self._known:
            return
        self._known.add(storage)
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, size)

    def _forget(self, size: int) -> None:
        self.now -= size


def resting_bytes() -> int:
    """Return the bytes of all existing tensors: parameters, optimizer state, batches."""
    gc.collect()
    storages = {}
    for thing in gc.get_objects():
        if issubclass(type(thing), Tensor) and thing.layout == torch.strided:
            storages[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
    return sum(storages.values())
