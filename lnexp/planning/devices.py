"""GPUs that need not be at hand to plan for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A GPU, by its maker's data sheet.

    Attributes:
        title: what people call it.
        flops: floating point operations a second in matrix products, dense, by precision.
        bandwidth: bytes a second between its memory and its cores.
        memory: GiB.
        link: bytes a second from it to another one of the same machine (NVLink, one way).
    """

    title: str
    flops: dict[str, float]
    bandwidth: float
    memory: float
    link: float


#: fp32 stands for fp32 itself, which is what PyTorch computes in unless it is told otherwise, not for TF32.
DEVICES = {
    "h100": Device("H100 SXM", {"bf16": 989e12, "fp16": 989e12, "fp32": 67e12}, 3.35e12, 80, 450e9),
    "h200": Device("H200 SXM", {"bf16": 989e12, "fp16": 989e12, "fp32": 67e12}, 4.8e12, 141, 450e9),
    "a100": Device("A100 SXM 80 GB", {"bf16": 312e12, "fp16": 312e12, "fp32": 19.5e12}, 2.0e12, 80, 300e9),
    "v100": Device("V100 SXM 32 GB", {"fp16": 125e12, "fp32": 15.7e12}, 0.9e12, 32, 150e9),
}

#: How much of that training gets, and the time that starting one operation takes. Assumed, not measured.
UTILISATION = 0.4
SECONDS_AN_OPERATION = 6e-6


def seconds(device: Device, precision: str, flops: float, traffic: float, operations: int) -> float:
    """How long a pass over a batch takes, forward and backward, if no two operations are fused.

    Args:
        device: a known one.
        precision: that matrix products are in.
        flops: of matrix products.
        traffic: bytes that operations read and write.
        operations: to start.
    """
    busy = flops / device.flops[precision] + traffic / device.bandwidth
    return max(busy / UTILISATION, operations * SECONDS_AN_OPERATION)


def all_reduce_seconds(device: Device, gradient_bytes: int, processes: int) -> float:
    """How long processes of one machine take to add up their gradients in a ring, which fairseq does after the pass."""
    sent = 2 * gradient_bytes * (processes - 1) / processes
    return sent / device.link / UTILISATION
